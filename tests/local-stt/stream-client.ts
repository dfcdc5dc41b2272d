import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";

export const TRANSPORTS = ["ndjson", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

export type Message = Readonly<Record<string, unknown>>;

/** One stream without client library. */
export interface StreamClient {
  /** Sends a message, or a text that is not valid JSON. */
  say(message: object | string): void;
  /** The next message of the server; null after the last. */
  hear(): Promise<Message | null>;
  hearAll(): Promise<Message[]>;
  /** Ends the request; closes a WebSocket. */
  hangUp(): void;
  /** Breaks the connection. */
  leave(): void;
  /** The HTTP status, or the close code of the WebSocket. */
  ended(): Promise<number>;
}

export function openStream(url: string, transport: Transport, search = ""): StreamClient {
  return transport === "ndjson" ? openLines(url, search) : openSocket(url, search);
}

/** A message with these samples or bytes. */
export function chunk(sound: Int16Array | Uint8Array, members: object = {}): object {
  const bytes = sound instanceof Int16Array ? pcmBytes(sound) : sound;
  return { type: "chunk", audio_base64: Buffer.from(bytes).toString("base64"), ...members };
}

/** The sound in chunks of this many bytes. */
export function chunks(samples: Int16Array, bytesEach: number, members: object = {}): object[] {
  const bytes = pcmBytes(samples);
  return Array.from({ length: Math.ceil(bytes.length / bytesEach) }, (_, index) =>
    chunk(bytes.subarray(index * bytesEach, (index + 1) * bytesEach), members),
  );
}

/** Sends everything and returns all answers. */
export async function exchange(
  url: string,
  transport: Transport,
  messages: readonly (object | string)[],
  search = "",
): Promise<Message[]> {
  const stream = openStream(url, transport, search);
  for (const message of messages) stream.say(message);
  const last = messages.at(-1);
  const ends = typeof last === "object" && (("type" in last && last.type === "end") || "last" in last);
  if (!ends && transport === "ndjson") stream.hangUp();
  return stream.hearAll();
}

class Inbox {
  #heard: Message[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  add(message: Message): void {
    this.#heard.push(message);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async next(): Promise<Message | null> {
    for (;;) {
      const message = this.#heard.shift();
      if (message !== undefined) return message;
      if (this.#isOver) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async rest(): Promise<Message[]> {
    const all: Message[] = [];
    for (let message = await this.next(); message !== null; message = await this.next()) all.push(message);
    return all;
  }
}

function openLines(url: string, search: string): StreamClient {
  const call: ClientRequest = request(`${url}/stream/transcribe${search}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
  });
  call.on("error", () => {});
  call.flushHeaders();
  onTestFinished(() => void call.destroy());
  const inbox = new Inbox();
  const { promise: replied, resolve } = Promise.withResolvers<IncomingMessage>();
  call.once("response", resolve);
  call.once("close", () => inbox.end());
  const read = async (): Promise<void> => {
    const reply = await replied;
    reply.on("error", () => {});
    for await (const line of createInterface({ input: reply })) inbox.add(JSON.parse(line));
    inbox.end();
  };
  read().catch(() => inbox.end());
  return {
    say: (message) => void call.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    hear: () => inbox.next(),
    hearAll: () => inbox.rest(),
    hangUp: () => void call.end(),
    leave: () => void call.destroy(),
    ended: async () => (await replied).statusCode ?? 0,
  };
}

function openSocket(url: string, search: string): StreamClient {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/transcribe${search}`);
  onTestFinished(() => socket.terminate());
  const inbox = new Inbox();
  socket.on("message", (bytes: Buffer) => inbox.add(JSON.parse(bytes.toString())));
  socket.on("error", () => {});
  socket.on("unexpected-response", (_call, reply) => void hearRefusal(reply, inbox).finally(() => socket.terminate()));
  const closed = once(socket, "close").then(([code]: unknown[]) => Number(code));
  closed.finally(() => inbox.end()).catch(() => {});
  const opened = once(socket, "open");
  opened.catch(() => {});
  const send = (message: object | string): void =>
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
  return {
    say: (message) =>
      socket.readyState === WebSocket.OPEN
        ? send(message)
        : void opened.then(
            () => send(message),
            () => {},
          ),
    hear: () => inbox.next(),
    hearAll: () => inbox.rest(),
    hangUp: () =>
      void opened.then(
        () => socket.close(),
        () => {},
      ),
    leave: () => socket.terminate(),
    ended: () => closed,
  };
}

/** The reason why no stream was opened, as the only message. */
async function hearRefusal(reply: IncomingMessage, inbox: Inbox): Promise<void> {
  let text = "";
  for await (const piece of reply.setEncoding("utf8")) text += String(piece);
  inbox.add(JSON.parse(text));
}
