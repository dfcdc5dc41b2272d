import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { validateCloudServerMessage } from "@antiphon/contracts/local-stt/validators.js";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { API_KEY } from "./cloud-server.ts";

export const HEARTBEAT = { type: "heartbeat" };

export type Message = Readonly<Record<string, unknown>>;

/** A stream without client library. */
export interface RawStream {
  readonly socket: WebSocket;
  /** Sends a message, or a text that is not valid JSON. */
  say(...messages: readonly (object | string)[]): void;
  /** The next message; null after the last. */
  hear(): Promise<Message | null>;
  hearAll(): Promise<Message[]>;
  /** The close code. */
  closed(): Promise<number>;
}

/** Opens a stream and checks every message against the contract. */
export async function openRawStream(url: string, key: string | null = API_KEY): Promise<RawStream> {
  const socket = connect(url, key);
  const waiting: Message[] = [];
  let wake: () => void = () => {};
  let isOver = false;
  socket.on("message", (bytes: Buffer) => {
    const message: unknown = JSON.parse(bytes.toString());
    expect(validateCloudServerMessage(message), JSON.stringify(validateCloudServerMessage.errors)).toBe(true);
    waiting.push(Object(message));
    wake();
  });
  const closed = new Promise<number>((resolve) => {
    socket.once("close", (code) => {
      isOver = true;
      wake();
      resolve(code);
    });
  });
  const hear = async (): Promise<Message | null> => {
    while (waiting.length === 0 && !isOver) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return waiting.shift() ?? null;
  };
  await once(socket, "open");
  return {
    socket,
    say: (...messages) => {
      for (const message of messages) socket.send(typeof message === "string" ? message : JSON.stringify(message));
    },
    hear,
    hearAll: async () => {
      const all: Message[] = [];
      for (let message = await hear(); message !== null; message = await hear()) all.push(message);
      return all;
    },
    closed: () => closed,
  };
}

export interface Refusal {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/** The reply to a refused upgrade. */
export async function refusedUpgrade(url: string, key: string | null = API_KEY): Promise<Refusal> {
  const socket = connect(url, key);
  const [, reply] = await once(socket, "unexpected-response");
  let text = "";
  for await (const piece of reply) text += String(piece);
  return { status: reply.statusCode, headers: reply.headers, body: JSON.parse(text) };
}

function connect(url: string, key: string | null): WebSocket {
  const socket = new WebSocket(`${url.replace("http", "ws")}/stt/v1/stream`, {
    headers: key === null ? {} : { "x-api-key": key },
  });
  socket.on("error", () => {});
  onTestFinished(() => socket.terminate());
  return socket;
}

/** A message with a piece of sound, or with these bytes. */
export function audio(sound: Int16Array | Uint8Array, members: object = {}): object {
  const bytes = sound instanceof Int16Array ? pcmBytes(sound) : sound;
  return { type: "audio", audio_base64: Buffer.from(bytes).toString("base64"), ...members };
}

/** The words of all finals, without the empty ones. */
export function words(messages: readonly Message[]): string {
  const texts = messages.filter(({ type }) => type === "final").map(({ text }) => String(text));
  return texts.filter((text) => text !== "").join(" ");
}
