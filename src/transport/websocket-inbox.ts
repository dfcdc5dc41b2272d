import type { WebSocket } from "ws";
import { rememberSize } from "../base/message-size.ts";
import type { Faults } from "./faults.ts";
import { parseJson } from "./parse-json.ts";

/** Messages that wait to be taken; beyond them the socket is not read. */
const WAITING_MESSAGES_MAX = 16;
/** The same for their bytes, the last message not counted: it may be as large as a message can be. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

type InboxFaults = Pick<Faults, "invalidJson" | "binaryMessage">;

interface WaitingMessage {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

/** What a WebSocket receives, as JSON values in order. For a message that is none `next` rejects; the one behind it can be asked for all the same. */
export class WebSocketInbox implements AsyncIterableIterator<unknown, undefined> {
  readonly #socket: WebSocket;
  readonly #faults: InboxFaults;
  #waiting: WaitingMessage[] = [];
  #waitingBytes = 0;
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

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    for (;;) {
      const message = this.#take();
      if (message !== null) return { done: false, value: this.#read(message) };
      if (this.#closed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Takes no more. What still comes is read and dropped: the answer to a close, or to a ping, may stand behind it. */
  async return(): Promise<IteratorResult<unknown, undefined>> {
    this.#closed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#socket.isPaused) this.#socket.resume();
    this.#wake();
    return { done: true, value: undefined };
  }

  #receive(bytes: Buffer, isBinary: boolean): void {
    if (this.#closed) return;
    this.#waiting.push({ bytes, isBinary });
    this.#waitingBytes += bytes.length;
    if (this.#isFull()) this.#socket.pause();
    this.#wake();
  }

  #take(): WaitingMessage | null {
    const message = this.#waiting.shift();
    if (message === undefined) return null;
    this.#waitingBytes -= message.bytes.length;
    if (this.#socket.isPaused && !this.#isFull()) this.#socket.resume();
    return message;
  }

  #isFull(): boolean {
    return this.#waiting.length >= WAITING_MESSAGES_MAX || this.#waitingBytes > WAITING_BYTES_MAX;
  }

  #read({ bytes, isBinary }: WaitingMessage): unknown {
    if (isBinary) throw this.#faults.binaryMessage();
    return rememberSize(parseJson(bytes, this.#faults), bytes.length);
  }
}
