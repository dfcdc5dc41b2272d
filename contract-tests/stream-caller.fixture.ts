import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

/** A stream as whoever opened it sees it, without any help. */
export interface StreamCaller {
  /** A message, or what is none: a text or bytes. */
  say(message: unknown): void;
  /** The next message that comes; null: none comes any more. */
  hear(): Promise<unknown>;
  /** Reads nothing until it goes on. */
  pause(): void;
  resume(): void;
  leave(): void;
}

const ROUNDS_MAX = 1000;

/**
 * Says messages again and again to a server that is not listened to, until that has enough, and gives what it says
 * last.
 */
export async function wearOut(stream: StreamCaller, messages: readonly object[], serverUrl: string): Promise<unknown> {
  stream.pause();
  for (let round = 0; round < ROUNDS_MAX && (await streamsOpen(serverUrl)) > 0; round += 1)
    for (const message of messages) stream.say(message);
  stream.resume();
  let last: unknown = null;
  for (let heard = await stream.hear(); heard !== null; heard = await stream.hear()) last = heard;
  return last;
}

async function streamsOpen(serverUrl: string): Promise<number> {
  const text = await (await fetch(`${serverUrl}/metrics`)).text();
  return Number(/^antiphon_speech_streams_open (\d+)/m.exec(text)?.[1]);
}

/** Divides no line evenly, and none between its messages. */
const PIECE_CHARACTERS = 4999;

/** One JSON text in each line, in pieces that end anywhere. */
export async function callByLines(url: string): Promise<StreamCaller> {
  const call = request(url, { method: "POST", headers: { "content-type": "application/x-ndjson" } });
  call.on("error", () => {});
  call.flushHeaders();
  const inbox = new Inbox();
  const [reply] = await once(call, "response");
  reply.on("error", () => {});
  const lines = createInterface({ input: reply });
  lines.on("line", (line) => inbox.take(line));
  lines.on("error", () => {});
  lines.on("close", () => inbox.end());
  return {
    say: (message) => {
      const line = message instanceof Uint8Array ? message : Buffer.from(`${textOf(message)}\n`);
      for (let place = 0; place < line.length; place += PIECE_CHARACTERS)
        call.write(line.subarray(place, place + PIECE_CHARACTERS));
    },
    hear: () => inbox.next(),
    pause: () => void reply.socket.pause(),
    resume: () => void reply.socket.resume(),
    leave: () => void call.destroy(),
  };
}

/** One JSON text in each frame. */
export async function callBySocket(url: string, headers: Readonly<Record<string, string>> = {}): Promise<StreamCaller> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
  const inbox = new Inbox();
  socket.on("message", (bytes: Buffer) => inbox.take(bytes.toString()));
  socket.on("close", () => inbox.end());
  await once(socket, "open");
  socket.on("error", () => {});
  return {
    say: (message) => socket.send(message instanceof Uint8Array ? message : textOf(message)),
    hear: () => inbox.next(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    leave: () => socket.terminate(),
  };
}

function textOf(message: unknown): string {
  return typeof message === "string" ? message : JSON.stringify(message);
}

class Inbox {
  readonly #heard: unknown[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  take(text: string): void {
    this.#heard.push(JSON.parse(text));
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async next(): Promise<unknown> {
    while (this.#heard.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#heard.shift() ?? null;
  }
}
