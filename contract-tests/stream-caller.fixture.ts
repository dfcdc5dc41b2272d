import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

/** A raw stream, used without our client. */
export interface StreamCaller {
  /** Sends a message. Text and bytes are sent unchanged, to send invalid messages. */
  say(message: unknown): void;
  /** Returns the next message, or null at the end of the stream. */
  hear(): Promise<unknown>;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  leave(): void;
}

const ROUNDS_MAX = 1000;

/**
 * Sends messages again and again without reading replies, until the server ends the stream. Returns the server's last
 * message.
 */
export async function sendUntilClosed(
  stream: StreamCaller,
  messages: readonly object[],
  serverUrl: string,
): Promise<unknown> {
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

/** Chosen so that pieces do not end at line ends. */
const PIECE_CHARACTERS = 4999;

/** Opens an NDJSON stream. Sends each line in pieces that end at arbitrary bytes. */
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

/** Opens a WebSocket stream with one JSON text per frame. */
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
