import { once } from "node:events";
import { WebSocket } from "ws";
import type { Service } from "../providers.fixture.ts";

/** Long enough for a slow remote model. */
const FRAME_MS_MAX = 60_000;
const LAST: readonly unknown[] = ["response.completed", "response.incomplete", "response.failed"];

/**
 * A WebSocket connection to a real server. Reads frames without a client, because clients turn some frames into errors.
 */
export class SocketTalk {
  readonly #socket: WebSocket;
  readonly #unread: unknown[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (bytes: Buffer) => this.#unread.push(JSON.parse(bytes.toString())));
    socket.on("error", () => undefined);
  }

  static async open({ url, apiKey }: Service): Promise<SocketTalk> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    await once(socket, "open", { signal: AbortSignal.timeout(FRAME_MS_MAX) });
    return new SocketTalk(socket);
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Returns the next unread frame of any lane. */
  async next(): Promise<unknown> {
    while (this.#unread.length === 0) {
      if (this.#socket.readyState === WebSocket.CLOSED) throw new Error("the socket is closed");
      await once(this.#socket, "message", { signal: AbortSignal.timeout(FRAME_MS_MAX) });
    }
    return this.#unread.shift();
  }

  /** Returns the next frame of this type, and drops those before it. */
  async until(type: string): Promise<unknown> {
    for (;;) {
      const frame = await this.next();
      if (Object(frame).type === type) return frame;
    }
  }

  /**
   * Returns the frames up to the end of a turn or to the error that refuses it. Does not separate overlapping turns.
   */
  async turn(onFrame: (frame: unknown) => Promise<void> = async () => undefined): Promise<unknown[]> {
    const frames: unknown[] = [];
    for (;;) {
      const frame = await this.next();
      frames.push(frame);
      await onFrame(frame);
      const { type, status } = Object(frame);
      if (LAST.includes(type) || (type === "error" && status !== undefined)) return frames;
    }
  }

  /** Sends a frame and returns the last frame of its turn. */
  async ask(frame: unknown): Promise<unknown> {
    this.send(frame);
    return (await this.turn()).at(-1);
  }

  close(): void {
    this.#socket.terminate();
  }
}
