import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { ApiError } from "../../base/api-error.ts";
import type { HeldBytes } from "../../base/limits/byte-budget.ts";
import { rememberSize } from "../../base/message-size.ts";
import { parseJsonChunks } from "../body/parse-json.ts";
import type { Faults } from "../faults.ts";
import { MessageBytes } from "./message-bytes.ts";

/** Messages that wait to be taken; beyond them the socket is not read. */
const WAITING_MESSAGES_MAX = 16;
/** The same for their bytes, the last message not counted: it may be as large as a message can be. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/** How long a client that is read no further may take to close. */
const FAREWELL_MS = 1_000;

type InboxFaults = Pick<Faults, "invalidJson" | "binaryMessage" | "bodyTimedOut" | "messageTooLarge" | "noRoomForBody">;

interface WaitingMessage {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

/** A WebSocket and the connection under it. */
export interface IncomingSocket {
  readonly socket: WebSocket;
  readonly wire: Duplex;
  /** A larger message ends the session. */
  readonly messageBytesMax: number;
}

/**
 * What a WebSocket receives, as JSON values in order. For a message that is none `next` rejects; the one behind it can
 * be asked for all the same.
 */
export class WebSocketInbox implements AsyncIterableIterator<unknown, undefined> {
  readonly #socket: WebSocket;
  readonly #faults: InboxFaults;
  readonly #bytes: MessageBytes;
  #waiting: WaitingMessage[] = [];
  #wake: () => void = () => {};
  #closed = false;
  #isOversized = false;
  /** Why nothing more is read. */
  #end: ApiError | null = null;

  /** `held`: what the messages may hold in memory until they are taken. */
  constructor({ socket, wire, messageBytesMax }: IncomingSocket, held: HeldBytes, faults: InboxFaults) {
    this.#socket = socket;
    this.#faults = faults;
    this.#bytes = new MessageBytes(held);
    wire.prependListener("data", (piece: Buffer) => this.#arrive(piece.length)); // Before the frames in it are seen.
    for (const control of ["ping", "pong"] as const)
      socket.on(control, (bytes: Buffer) => this.#bytes.controlled(bytes.length));
    // A Buffer, as `binaryType` is left alone.
    socket.on("message", (bytes: Buffer, isBinary) => this.#receive(bytes, isBinary));
    socket.on("oversized", () => {
      this.#isOversized = true;
      this.#end ??= faults.messageTooLarge(messageBytesMax); // What came before it is still answered.
      this.#wake();
    });
    socket.once("close", () => {
      this.#closed = true;
      this.#bytes.release();
      this.#wake();
    });
  }

  /** Whether a message was too large; nothing behind it can be read. */
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
      if (this.#end !== null && !this.#closed) throw this.#end;
      if (this.#closed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Takes no more. What still comes is read and dropped: the answer to a close, or to a ping, may stand behind it. */
  async return(): Promise<IteratorResult<unknown, undefined>> {
    this.#closed = true;
    this.#drop();
    if (this.#socket.isPaused) this.#socket.resume();
    this.#wake();
    return { done: true, value: undefined };
  }

  /** To be called now and then, so that nobody holds a message open by single bytes. */
  look(sinceMs: number): void {
    if (this.#bytes.isStalled(sinceMs) && !this.#socket.isPaused) this.#breakOff(this.#faults.bodyTimedOut());
  }

  #arrive(bytes: number): void {
    if (!this.#bytes.arrived(bytes)) this.#breakOff(this.#faults.noRoomForBody());
  }

  /**
   * Reads no further. Who is told so may still answer the close; whoever does not is cut, with what was read of the
   * message.
   */
  #breakOff(fault: ApiError): void {
    if (this.#end !== null) return;
    this.#end = fault;
    this.#drop();
    this.#socket.pause();
    setTimeout(() => this.#socket.terminate(), FAREWELL_MS).unref();
    this.#wake();
  }

  #drop(): void {
    for (const { bytes } of this.#waiting.splice(0)) this.#bytes.taken(bytes.length);
  }

  #receive(bytes: Buffer, isBinary: boolean): void {
    this.#bytes.completed(bytes.length);
    if (this.#closed || this.#end !== null) return this.#bytes.taken(bytes.length);
    this.#waiting.push({ bytes, isBinary });
    if (this.#isFull()) this.#socket.pause();
    this.#wake();
  }

  #take(): WaitingMessage | null {
    const message = this.#waiting.shift();
    if (message === undefined) return null;
    this.#bytes.taken(message.bytes.length);
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
