import { subscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Agent, type Dispatcher } from "undici";
import { PartsBody } from "./request-body.ts";

/** Errors of a connection that the other side has closed. */
const CLOSED_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * The maximum delay of a close, in milliseconds. If a connection closes later after a call was sent on it, the server
 * received the call and may have worked on it.
 */
const CLOSE_TRAVEL_MS_MAX = 2_000;

export interface ModelConnectionOptions {
  /** Maximum number of connections. Each carries one call at a time; further calls wait. */
  readonly connectionsMax: number;
  readonly connectMs: number;
  /** A Unix socket in place of the host of each call; null for none. */
  readonly socketPath: string | null;
}

/**
 * Keeps connections to model servers open between calls. A call on a connection that the server has closed is resent on
 * a new one, which is closed afterwards.
 */
export function openConnections({ connectionsMax, connectMs, socketPath }: ModelConnectionOptions): Dispatcher {
  const place = socketPath === null ? {} : { socketPath };
  const options = { connections: connectionsMax, connect: { timeout: connectMs, ...place } };
  return new Agent(options).compose(resendFresh(new Agent({ ...options, pipelining: 0 })));
}

/**
 * Resends a call through `fresh` if a reused connection closed at once without a byte of a reply: the server had closed
 * it earlier and has not seen the call. The same applies to a call waiting to be sent when its connection was reset,
 * because undici fails it, too. `fresh` opens a connection for each call.
 */
function resendFresh(fresh: Dispatcher): Dispatcher.DispatcherComposeInterceptor {
  watchSentCalls();
  return (dispatch) => (options, handler) =>
    dispatch(
      options,
      new FirstSending(handler, options, () => {
        const { body } = options;
        fresh.dispatch({ ...options, body: body instanceof PartsBody ? body.again() : (body ?? null) }, handler);
      }),
    );
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

class FirstSending implements Dispatcher.DispatchHandler {
  readonly path: string;
  readonly #handler: Dispatcher.DispatchHandler;
  /** Null if the call cannot be resent. */
  #sendAgain: (() => void) | null;
  #hasStarted = false;
  /** `atMs`: in `performance.now()` time. */
  #sending: { readonly socket: Socket; readonly bytesBefore: number; readonly atMs: number } | null = null;

  constructor(handler: Dispatcher.DispatchHandler, { path, body }: Dispatcher.DispatchOptions, sendAgain: () => void) {
    this.path = path;
    this.#handler = handler;
    this.#sendAgain = !(body instanceof Readable) || body instanceof PartsBody ? sendAgain : null;
  }

  /** The call is now written to this socket. */
  sentOn(socket: Socket): void {
    this.#sending = { socket, bytesBefore: socket.bytesRead, atMs: performance.now() };
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#hasStarted = true;
    this.#handler.onRequestStart?.(controller, context);
    starting = controller.aborted ? null : this;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers, message?: string): void {
    this.#sendAgain = null; // It contains the body, which is not needed during the answer.
    this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#handler.onResponseData?.(controller, bytes);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Headers): void {
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#sendAgain !== null && this.#metClosedConnection(error)) this.#sendAgain();
    else this.#handler.onResponseError?.(controller, error);
  }

  #metClosedConnection(error: Error): boolean {
    if (!("code" in error) || !CLOSED_CODES.has(String(error.code))) return false;
    if (this.#sending === null) return !this.#hasStarted;
    const { socket, bytesBefore, atMs } = this.#sending;
    return bytesBefore > 0 && socket.bytesRead === bytesBefore && performance.now() - atMs <= CLOSE_TRAVEL_MS_MAX;
  }
}

/**
 * The call whose headers undici writes next: undici notifies the handler, and immediately afterwards the channel below.
 */
let starting: FirstSending | null = null;
let isWatching = false;

/** undici does not tell handlers the socket of a call, but it publishes it on this channel. */
function watchSentCalls(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe("undici:client:sendHeaders", (message) => {
    const call = starting;
    starting = null;
    if (call === null || !isRecord(message)) return;
    const { request, socket } = message;
    if (isRecord(request) && request["path"] === call.path && socket instanceof Socket) call.sentOn(socket);
  });
}
