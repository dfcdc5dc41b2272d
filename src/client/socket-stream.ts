import type { ClientRequest, ClientSend, RequestOptions } from "../../generated/local-stt/client.ts";
import { CallWatch } from "./call-watch.ts";
import type { Connection } from "./connection.ts";
import { APIConnectionError, InvalidReplyError } from "./errors.ts";
import { isAsyncIterable, letGo, SPEECH_MESSAGES } from "./line-stream.ts";
import { ReplyStream } from "./reply-stream.ts";
import { trustReply } from "./trust-reply.ts";

const SOCKET_PATH = "/ws/transcribe";
const BUFFERED_BYTES_MAX = 1024 * 1024;
/** Nothing is sent while more answers than this wait to be read. */
const WAITING_MESSAGES_PAUSE = 256;
/** A server that sends this much unasked is not one of ours. */
const WAITING_MESSAGES_MAX = 4096;
/** Sockets do not tell when there is room again. */
const ROOM_POLL_MS = 10;
const NORMAL_CLOSURE = 1000;

/** As much of a WebSocket as is needed here. */
export interface Socket {
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number }) => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

export type OpenSocket = (url: string) => Socket;

/** Sends streams over a WebSocket, and all else by `send`. */
export function sendStreamsBySocket(send: ClientSend, connection: Connection, openSocket: OpenSocket): ClientSend {
  return async <Reply>(request: ClientRequest, options: RequestOptions = {}): Promise<Reply> => {
    if (request.accept !== "lines" || !isAsyncIterable(request.body)) return send(request, options);
    const watch = new CallWatch({ signal: options.signal, timeoutMs: options.timeoutMs ?? connection.timeoutMs });
    watch.signal.throwIfAborted();
    const url = connection.baseUrl.replace(/^http/, "ws") + SOCKET_PATH;
    return trustReply(await openStream(openSocket(url), request.body, watch));
  };
}

async function openStream(socket: Socket, messages: AsyncIterable<unknown>, watch: CallWatch): Promise<ReplyStream> {
  const inbox = new SocketInbox(socket, watch);
  await inbox.opened;
  const iterator = messages[Symbol.asyncIterator]();
  watch.signal.addEventListener("abort", () => letGo(iterator), { once: true });
  sendMessages(socket, iterator, inbox).catch((error: unknown) => watch.end(error));
  return new ReplyStream(inbox.read(), { watch, kind: SPEECH_MESSAGES, headers: new Headers() });
}

async function sendMessages(socket: Socket, iterator: AsyncIterator<unknown>, inbox: SocketInbox): Promise<void> {
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    while (inbox.isOpen && (inbox.waiting > WAITING_MESSAGES_PAUSE || socket.bufferedAmount > BUFFERED_BYTES_MAX)) {
      await new Promise((resolve) => setTimeout(resolve, ROOM_POLL_MS));
    }
    if (!inbox.isOpen) return letGo(iterator);
    socket.send(JSON.stringify(next.value));
  }
}

/** Holds what the socket brings until it is read. */
class SocketInbox {
  readonly opened: Promise<void>;
  isOpen = true;
  readonly #watch: CallWatch;
  readonly #messages: string[] = [];
  #wake: () => void = () => undefined;

  constructor(socket: Socket, watch: CallWatch) {
    this.#watch = watch;
    watch.expectServer();
    watch.signal.addEventListener(
      "abort",
      () => {
        socket.close(NORMAL_CLOSURE);
        this.#shut();
      },
      { once: true },
    );
    socket.addEventListener("message", ({ data }) => this.#take(data));
    socket.addEventListener("close", () => this.#shut());
    this.opened = new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      const fail = () => {
        watch.release();
        reject(
          watch.signal.aborted ? watch.signal.reason : new APIConnectionError("The WebSocket could not be opened."),
        );
      };
      socket.addEventListener("error", fail);
      socket.addEventListener("close", fail);
      watch.signal.addEventListener("abort", fail, { once: true });
    });
  }

  get waiting(): number {
    return this.#messages.length;
  }

  async *read(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        const message = this.#messages.shift();
        if (message !== undefined) yield message;
        else if (this.isOpen) await this.#hear();
        else return;
      }
    } finally {
      this.#watch.end(new APIConnectionError("The stream is over."));
    }
  }

  async #hear(): Promise<void> {
    this.#watch.expectServer();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#watch.stopExpecting();
  }

  #take(data: unknown): void {
    if (typeof data !== "string") this.#watch.end(new InvalidReplyError("The server sent a binary frame."));
    else if (this.#messages.push(data) > WAITING_MESSAGES_MAX)
      this.#watch.end(new InvalidReplyError("The server sends too much unasked."));
    this.#wake();
  }

  #shut(): void {
    this.isOpen = false;
    this.#wake();
  }
}
