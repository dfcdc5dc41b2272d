import type { Duplex } from "node:stream";
import type { ApiError } from "@antiphon/base/api-error.ts";
import type { HeldBytes } from "@antiphon/base/limits/byte-budget.ts";
import { rememberSize } from "@antiphon/base/message-size.ts";
import type { WebSocket } from "ws";
import { parseJsonChunks } from "../body/parse-json.ts";
import type { Faults } from "../faults.ts";
import { MessageBytes } from "./message-bytes.ts";

/** Messages that may wait; with this many, the socket is paused. */
const WAITING_MESSAGES_MAX = 16;
/** Bytes of waiting messages above which the socket is paused. The last message may exceed it by its own size. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/** How long a client may take to close after we have stopped reading, in milliseconds. */
const CLOSE_WAIT_MS = 1_000;

type InboxFaults = Pick<Faults, "invalidJson" | "binaryMessage" | "bodyTimedOut" | "messageTooLarge" | "noRoomForBody">;

interface WaitingMessage {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

/** A WebSocket and its connection. */
export interface IncomingSocket {
  readonly socket: WebSocket;
  readonly wire: Duplex;
  /** A larger message ends the session. */
  readonly messageBytesMax: number;
}

/**
 * The messages of a WebSocket as JSON values, in order. `next()` rejects if a message is not JSON text; later messages
 * can still be read.
 */
export class WebSocketInbox implements AsyncIterableIterator<unknown, undefined> {
  readonly #socket: WebSocket;
  readonly #faults: InboxFaults;
  readonly #bytes: MessageBytes;
  #waiting: WaitingMessage[] = [];
  #wake: () => void = () => {};
  #isClosed = false;
  #isOversized = false;
  /** The error that ends reading; null while messages are read. */
  #end: ApiError | null = null;

  /** `heldBytes` counts the bytes of messages until they are taken. */
  constructor({ socket, wire, messageBytesMax }: IncomingSocket, heldBytes: HeldBytes, faults: InboxFaults) {
    this.#socket = socket;
    this.#faults = faults;
    this.#bytes = new MessageBytes(heldBytes);
    wire.prependListener("data", (piece: Buffer) => this.#arrive(piece.length)); // Runs before ws parses the frames.
    for (const control of ["ping", "pong"] as const)
      socket.on(control, (bytes: Buffer) => this.#bytes.removeControlFrame(bytes.length));
    // Messages are Buffers, because `binaryType` has its default value.
    socket.on("message", (bytes: Buffer, isBinary) => this.#receive(bytes, isBinary));
    socket.on("oversized", () => {
      this.#isOversized = true;
      this.#end ??= faults.messageTooLarge(messageBytesMax); // Earlier messages are still read.
      this.#wake();
    });
    socket.once("close", () => {
      this.#isClosed = true;
      this.#bytes.release();
      this.#wake();
    });
  }

  /** Whether a message was too large; no later message can be read. */
  get isOversized(): boolean {
    return this.#isOversized;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    for (;;) {
      const message = this.#take();
      if (message !== null) return { done: false, value: await this.#read(message) };
      if (this.#end !== null && !this.#isClosed) throw this.#end;
      if (this.#isClosed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Accepts no more messages. Later ones are read and dropped, because a close or a pong may follow them. */
  async return(): Promise<IteratorResult<unknown, undefined>> {
    this.#isClosed = true;
    this.#drop();
    if (this.#socket.isPaused) this.#socket.resume();
    this.#wake();
    return { done: true, value: undefined };
  }

  /** Stops reading if a message arrives too slowly. `sinceMs` is the time since the last call, in milliseconds. */
  checkRate(sinceMs: number): void {
    if (this.#bytes.isStalled(sinceMs) && !this.#socket.isPaused) this.#breakOff(this.#faults.bodyTimedOut());
  }

  #arrive(bytes: number): void {
    if (!this.#bytes.addArrival(bytes)) this.#breakOff(this.#faults.noRoomForBody());
  }

  /**
   * Stops reading for good. The client may still answer the close; otherwise the socket is terminated after
   * `CLOSE_WAIT_MS`.
   */
  #breakOff(fault: ApiError): void {
    if (this.#end !== null) return;
    this.#end = fault;
    this.#drop();
    this.#socket.pause();
    setTimeout(() => this.#socket.terminate(), CLOSE_WAIT_MS).unref();
    this.#wake();
  }

  #drop(): void {
    for (const { bytes } of this.#waiting.splice(0)) this.#bytes.removeMessage(bytes.length);
  }

  #receive(bytes: Buffer, isBinary: boolean): void {
    this.#bytes.completeMessage(bytes.length);
    if (this.#isClosed || this.#end !== null) return this.#bytes.removeMessage(bytes.length);
    this.#waiting.push({ bytes, isBinary });
    if (this.#isFull()) this.#socket.pause();
    this.#wake();
  }

  #take(): WaitingMessage | null {
    const message = this.#waiting.shift();
    if (message === undefined) return null;
    this.#bytes.removeMessage(message.bytes.length);
    if (this.#socket.isPaused && !this.#isFull()) this.#socket.resume();
    return message;
  }

  #isFull(): boolean {
    return this.#waiting.length >= WAITING_MESSAGES_MAX || this.#bytes.waiting > WAITING_BYTES_MAX;
  }

  async #read({ bytes, isBinary }: WaitingMessage): Promise<unknown> {
    if (isBinary) throw this.#faults.binaryMessage();
    return rememberSize(await parseJsonChunks([bytes], this.#faults), bytes.length);
  }
}
