import { once } from "node:events";
import {
  readAnyStreamEvent,
  readResponseCreateFrame,
  readResponseSteerAcceptedEvent,
  readResponseSteerFailedEvent,
  readResponseSteerPendingEvent,
  readWebSocketErrorFrame,
} from "@antiphon/contracts/responses-api/readers.js";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { EXAMPLE_KEY } from "./interaction.fixture.ts";
import type { FrameExample } from "./socket-frames.fixture.ts";

/** Opens a socket, sends the frame if there is one, and returns the first message. */
export type Talk = (baseUrl: string, frame?: FrameExample["frame"]) => Promise<unknown>;

/** The official client reports errors to a separate listener. */
export const talkByOfficial: Talk = async (baseUrl, frame) => {
  const socket = new ResponsesWS(new OpenAI({ apiKey: EXAMPLE_KEY, baseURL: baseUrl }));
  const heard = Promise.withResolvers<unknown>();
  const errors: unknown[] = [];
  socket.on("error", ({ error }) => errors.push(error));
  socket.on("event", heard.resolve);
  socket.on("close", () => heard.reject(new Error("the socket closed")));
  if (typeof frame === "string") socket.sendRaw(frame);
  else if (frame !== undefined) socket.send(frame);
  try {
    const event = await heard.promise;
    await Promise.resolve(); // The error listener runs after the event listener.
    expect(errors).toEqual(Object(event).type === "error" ? [event] : []);
    return event;
  } finally {
    socket.close();
  }
};

/** Our client has no WebSocket mode, so this uses the types and readers that it exports for writing one. */
export const talkByOwn: Talk = async (baseUrl, frame) => {
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/responses`, {
    headers: { authorization: `Bearer ${EXAMPLE_KEY}` },
  });
  const message = once(socket, "message");
  await once(socket, "open");
  if (typeof frame === "object") expect(readResponseCreateFrame(frame)).toBe(true);
  if (frame !== undefined) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  try {
    const [bytes] = await message;
    const event: unknown = JSON.parse(String(bytes));
    const isSteering =
      readResponseSteerAcceptedEvent(event) ||
      readResponseSteerFailedEvent(event) ||
      readResponseSteerPendingEvent(event);
    const isRead = isSteering || readWebSocketErrorFrame(event) || readAnyStreamEvent(event);
    expect(isRead, JSON.stringify(readAnyStreamEvent.errors)).toBe(true);
    return event;
  } finally {
    socket.terminate();
  }
};
