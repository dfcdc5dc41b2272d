import type { CallWatch } from "../http/call-watch.ts";
import { APIConnectionError, InvalidReplyError } from "../http/errors.ts";

/** A server that sends this many messages ahead of the reader breaks the protocol. */
const UNREAD_MESSAGES_MAX = 4096;
const NORMAL_CLOSURE = 1000;

/** The members of a WebSocket that this client uses. */
export interface Socket {
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number }) => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

export type OpenSocket = (url: string) => Socket;

type InboxPhase = "opening" | "open" | "closed";

/** Buffers the messages of a socket until they are read. Closes the socket when the call ends. */
export class SocketInbox {
  readonly #socket: Socket;
  readonly #watch: CallWatch;
  readonly #messages: string[] = [];
  #phase: InboxPhase = "opening";
  #closeCode: number | null = null;
  #wake: () => void = () => undefined;

  constructor(socket: Socket, watch: CallWatch) {
    this.#socket = socket;
    this.#watch = watch;
    watch.signal.addEventListener("abort", () => this.#close(), { once: true });
    socket.addEventListener("open", () => this.#enter("open"));
    socket.addEventListener("message", ({ data }) => this.#take(data));
    socket.addEventListener("error", () => this.#enter("closed"));
    socket.addEventListener("close", ({ code }) => {
      this.#closeCode ??= code;
      this.#enter("closed");
    });
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** Whether the socket was closed with code 1000. */
  get wasClosedInOrder(): boolean {
    return this.#closeCode === NORMAL_CLOSURE;
  }

  get unread(): number {
    return this.#messages.length;
  }

  /** Resolves when the socket is open. Rejects if it closes, or the call ends, before that. */
  async open(): Promise<void> {
    if (this.#phase === "opening") await this.#waitForEvent();
    if (this.#phase === "open") return;
    this.#watch.end(new APIConnectionError("The WebSocket could not be opened."));
    throw this.#watch.signal.reason; // The first reason is kept.
  }

  async *read(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        const message = this.#messages.shift();
        if (message !== undefined) yield message;
        else if (this.isOpen) await this.#waitForEvent();
        else return;
      }
    } finally {
      this.#close();
      this.#watch.release();
    }
  }

  /** Waits for the next event of the socket. */
  async #waitForEvent(): Promise<void> {
    this.#watch.expectServer();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#watch.stopExpecting();
  }

  #take(message: unknown): void {
    if (typeof message !== "string") this.#watch.end(new InvalidReplyError("The server sent a binary frame."));
    else if (this.#messages.push(message) > UNREAD_MESSAGES_MAX) {
      this.#watch.end(new InvalidReplyError("The server sent too many messages that were not read yet."));
    }
    this.#wake();
  }

  #close(): void {
    if (this.#phase !== "closed") this.#socket.close(NORMAL_CLOSURE);
    this.#enter("closed");
  }

  #enter(phase: InboxPhase): void {
    if (this.#phase !== "closed") this.#phase = phase;
    this.#wake();
  }
}
