import type { WebSocket } from "ws";
import type { Faults } from "./faults.ts";
import { parseJson } from "./parse-json.ts";

/** Messages that wait to be taken; beyond them the socket is not read. */
const WAITING_MESSAGES_MAX = 16;

type InboxFaults = Pick<Faults, "invalidJson" | "binaryMessage">;

/** What a WebSocket receives, as JSON values in order. A message that is none is thrown to whoever iterates, and ends the iteration. */
export class WebSocketInbox implements AsyncIterable<unknown> {
  readonly #socket: WebSocket;
  readonly #faults: InboxFaults;
  readonly #waiting: { readonly bytes: Buffer; readonly isBinary: boolean }[] = [];
  #wake: () => void = () => {};
  #closed = false;

  constructor(socket: WebSocket, faults: InboxFaults) {
    this.#socket = socket;
    this.#faults = faults;
    socket.on("message", (bytes: Buffer, isBinary) => this.#receive(bytes, isBinary)); // A Buffer, as `binaryType` is left alone.
    socket.once("close", () => {
      this.#closed = true;
      this.#wake();
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator {
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) {
        if (this.#socket.isPaused) this.#socket.resume();
        if (message.isBinary) throw this.#faults.binaryMessage();
        yield parseJson(message.bytes, this.#faults);
      } else if (this.#closed) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #receive(bytes: Buffer, isBinary: boolean): void {
    this.#waiting.push({ bytes, isBinary });
    if (this.#waiting.length >= WAITING_MESSAGES_MAX) this.#socket.pause();
    this.#wake();
  }
}
