import { subscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import { isRecord } from "../../../base/json/records.ts";
import { PartsBody } from "./request-body.ts";

/** How a connection ends that the other side has closed. */
const CLOSED_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * How long news of a close travels at most, in milliseconds. If a connection closes later than that after a call was
 * sent on it, the server was still there when the call came, and may have worked on it.
 */
const CLOSE_TRAVEL_MS_MAX = 2_000;

export interface ModelConnectionOptions {
  /** Maximum number of connections. Each carries one call at a time; further calls wait. */
  readonly connectionsMax: number;
  readonly connectMs: number;
}

/**
 * Keeps connections to model servers open between calls. A call that meets a connection which the server has closed is
 * sent again on a new one, which is closed after it.
 */
export function openConnections({ connectionsMax, connectMs }: ModelConnectionOptions): Dispatcher {
  const options = { connections: connectionsMax, connect: { timeout: connectMs } };
  return new Agent(options).compose(resendFresh(new Agent({ ...options, pipelining: 0 })));
}

/**
 * Sends a call once more, through `fresh`, if it was sent on a reused connection that closed at once without a byte of
 * an answer: the server had closed it before, and has not seen the call. The same holds for a call that still waited to
 * be sent when its connection was reset, which undici fails, too. `fresh` opens a connection for each call.
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
  /** Null if the call cannot be sent again. */
  #sendAgain: (() => void) | null;
  #hasStarted = false;
  /** `atMs` is read from the clock of `performance`. */
  #sent: { readonly socket: Socket; readonly bytesBefore: number; readonly atMs: number } | null = null;

  constructor(handler: Dispatcher.DispatchHandler, { path, body }: Dispatcher.DispatchOptions, sendAgain: () => void) {
    this.path = path;
    this.#handler = handler;
    this.#sendAgain = !(body instanceof Readable) || body instanceof PartsBody ? sendAgain : null;
  }

  /** The call is written to this socket now. */
  sentOn(socket: Socket): void {
    this.#sent = { socket, bytesBefore: socket.bytesRead, atMs: performance.now() };
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#hasStarted = true;
    this.#handler.onRequestStart?.(controller, context);
    starting = controller.aborted ? null : this;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers, message?: string): void {
    this.#sendAgain = null; // It holds the body, which is not needed for the length of the answer.
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
    if (this.#sent === null) return !this.#hasStarted;
    const { socket, bytesBefore, atMs } = this.#sent;
    return bytesBefore > 0 && socket.bytesRead === bytesBefore && performance.now() - atMs <= CLOSE_TRAVEL_MS_MAX;
  }
}

/** The call whose headers undici writes next: it tells the handler, and in the same moment the channel below. */
let starting: FirstSending | null = null;
let isWatching = false;

/** undici tells handlers of a call nothing about its socket, but it tells this channel. */
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
