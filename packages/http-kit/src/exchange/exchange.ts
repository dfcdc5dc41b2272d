import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiError } from "@antiphon/base/api-error.ts";
import { newRequestId } from "@antiphon/base/ids.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { ReplyCut } from "@antiphon/base/reply-cut.ts";
import type { ReplyHeaders } from "../handler.ts";
import type { Flight } from "../in-flight.ts";
import type { ServedInterface, TransportOptions } from "../options.ts";
import type { RequestHead } from "../request-head.ts";
import type { RequestWatch } from "../request-observer.ts";
import { crossOriginHeaders } from "./cross-origin.ts";
import type { Unread } from "./unread-bytes.ts";

/** The reason of a signal that aborted because the client left. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}

/** One request and its reply, from the first byte to the last. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: RequestHead;
  readonly path: string;
  /** The query string without its `?`. */
  readonly search: string;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly watch: RequestWatch | null;
  /** For the log; set once the operation is known. */
  operationId: string | null;
  /** The path template of the operation; set together with it. */
  route: string | null;
  /** For the log: the fault of this server or of another one behind the reply. */
  fault: ApiError | null;
  /** Whether the reply is a fixed page. */
  isPage: boolean;
  /** For the log; set once the caller is authenticated. */
  callerFields: object;
  /** Headers of every reply once the caller is authenticated. */
  callerHeaders: ReplyHeaders;
  /** The current headers of every reply. */
  standingHeaders(): Record<string, string>;
  /** Starts to count the unread bytes of this reply, which is cut if its client does not read. */
  openUnread(): Unread;
  /** Breaks the connection, so that the client sees that the reply is incomplete. A stored run continues. */
  cut(reason: string): void;
}

/**
 * Starts an exchange. It ends by itself, with a line in the access log, when the reply is sent or the client has left.
 */
export function openExchange(request: IncomingMessage, response: ServerResponse, service: ServedInterface): Exchange {
  const startedAt = performance.now();
  const flight = service.inFlight.begin();
  const [path, search] = splitUrl(request.url ?? "/");
  const caller = callerOf(request);
  const requestId = newRequestId();
  const exchange: Exchange = {
    request,
    response,
    caller,
    path,
    search,
    requestId,
    clientRequestId: singleHeader(request.headers["x-client-request-id"]),
    signal: flight.signal,
    log: service.log,
    watch: service.observer?.begin(caller, requestId) ?? null,
    operationId: null,
    route: null,
    fault: null,
    isPage: false,
    callerFields: {},
    callerHeaders: {},
    standingHeaders: () => {
      const headers: Record<string, string> = {
        "x-request-id": exchange.requestId,
        ...NO_SNIFFING,
        ...crossOriginHeaders(request.headers.origin, service.options),
        ...service.options.standingHeaders(elapsedSince(startedAt)),
        ...exchange.callerHeaders,
      };
      if (service.inFlight.leaving) headers["connection"] = "close";
      return headers;
    },
    openUnread: () => service.options.unread.open(cutUnread),
    cut: (reason) => {
      flight.abort(new ReplyCut(reason));
      breakConnection(request, response);
    },
  };
  const cutUnread = (): void => {
    service.log.warn(
      { requestId: exchange.requestId, operationId: exchange.operationId },
      "closing reply: client reads too slowly",
    );
    exchange.cut("the reply was not read");
  };
  endWithReply(exchange, flight, () => reportEnd(exchange, performance.now() - startedAt, service.options));
  response.on("error", (error) =>
    service.log.debug({ err: error, requestId: exchange.requestId }, "reply could not be written"),
  );
  return exchange;
}

/** Ends the flight once, when the reply is sent or its client has left. */
function endWithReply({ request, response }: Exchange, flight: Flight, onEnd: () => void): void {
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    if (!response.writableFinished) flight.abort(new ClientLeft("the client left before its reply was complete"));
    flight.end();
    onEnd();
  };
  response.once("close", close);
  // If the connection of a pipelined request breaks, only the request emits an event.
  request.once("error", close);
}

/** For HTTP/1.0 the end of the connection is the end of a reply, so only a reset shows that it is incomplete. */
function breakConnection(request: IncomingMessage, response: ServerResponse): void {
  if (request.httpVersion === "1.0") request.socket.resetAndDestroy();
  else response.destroy();
}

/** `size` is the length of the reply in bytes, if it is known. */
export function writeHead(exchange: Exchange, status: number, headers: ReplyHeaders, size?: number): void {
  const all = Object.assign(exchange.standingHeaders(), headers);
  if (size !== undefined) all["content-length"] = String(size);
  exchange.response.writeHead(status, all);
}

/** On every reply, so that browsers trust the content type and do not guess from the bytes. */
export const NO_SNIFFING = { "x-content-type-options": "nosniff" };

export function singleHeader(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : value.join(", ");
}

export function splitUrl(url: string): readonly [string, string] {
  const mark = url.indexOf("?");
  return mark < 0 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
}

function elapsedSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

export function callerOf(request: IncomingMessage): RequestHead {
  return {
    method: request.method ?? "",
    path: splitUrl(request.url ?? "/")[0],
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress ?? "",
    remotePort: request.socket.remotePort ?? 0,
    localPort: request.socket.localPort ?? 0,
  };
}

const CLIENT_REQUEST_ID = /^[\x20-\x7e]{0,512}$/;

/** The first checks of every request and upgrade. Throws an `ApiError` if one fails. */
export function admitCaller<P>(caller: RequestHead, { admission, inFlight, faults }: ServedInterface<P>): void {
  if (inFlight.draining) throw faults.shuttingDown();
  admission.admit?.(caller);
  const clientRequestId = caller.headers["x-client-request-id"];
  const isValid = clientRequestId === undefined || CLIENT_REQUEST_ID.test(String(clientRequestId));
  if (!isValid) throw faults.invalidClientRequestId();
}

/** Logs one line for the request. It is a warning if this server or another one failed. */
function reportEnd(exchange: Exchange, durationMs: number, options: TransportOptions): void {
  const { caller, response, operationId, route, path, requestId, clientRequestId, fault } = exchange;
  const status = response.headersSent ? response.statusCode : null;
  const complete = response.writableFinished;
  const addition = exchange.watch?.end({ operationId, route, status, complete, durationMs });
  const ms = Math.round(durationMs);
  const isWarning = fault !== null || addition?.isWarning === true;
  const level = isWarning ? "warn" : isQuiet(exchange, status, options) ? "debug" : "info";
  exchange.log[level](
    {
      method: caller.method,
      path,
      operationId,
      status,
      complete,
      ms,
      requestId,
      clientRequestId,
      ...exchange.callerFields,
      ...(fault === null ? {} : { err: fault }),
      ...addition?.fields,
    },
    "request",
  );
}

/** Pages and polled operations, while they succeed. */
function isQuiet({ isPage, operationId }: Exchange, status: number | null, options: TransportOptions): boolean {
  if (isPage) return status !== null && status < 400;
  return operationId !== null && options.quietOperations.has(operationId) && status === 200;
}
