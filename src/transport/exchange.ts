import type { IncomingMessage, ServerResponse } from "node:http";
import { newRequestId } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { ReplyHeaders } from "./handler.ts";
import type { InFlight } from "./in-flight.ts";
import type { TransportOptions } from "./options.ts";

/** Why a signal aborted, and why the reading of a body ended: there is nobody left to answer. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}

/** One request and its reply, from the first byte to the last. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  /** The query string without its `?`. */
  readonly search: string;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly receivedAt: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Set once the route is known; for the log. */
  operationId: string | null;
  /** Set once the caller is known; on every reply from then on. */
  callerHeaders: ReplyHeaders;
  /** The headers of every reply as of now. */
  standingHeaders(): Record<string, string>;
}

export interface ExchangeParts {
  readonly inFlight: InFlight;
  readonly log: Logger;
  readonly options: TransportOptions;
}

/** Opens the record of a request; it closes itself, with a line in the access log, when the reply is out or the client has left. */
export function openExchange(request: IncomingMessage, response: ServerResponse, parts: ExchangeParts): Exchange {
  const startedAt = performance.now();
  const flight = parts.inFlight.begin();
  const [path, search] = splitUrl(request.url ?? "/");
  const exchange: Exchange = {
    request,
    response,
    path,
    search,
    requestId: newRequestId(),
    clientRequestId: singleHeader(request.headers["x-client-request-id"]),
    receivedAt: Date.now(),
    signal: flight.signal,
    log: parts.log,
    operationId: null,
    callerHeaders: {},
    standingHeaders: () => ({
      "x-request-id": exchange.requestId,
      ...parts.options.standingHeaders(elapsedSince(startedAt)),
      ...exchange.callerHeaders,
      ...(parts.inFlight.draining ? { connection: "close" } : {}),
    }),
  };
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    if (!response.writableFinished) flight.abort(new ClientLeft("the client left before its reply was complete"));
    flight.end();
    logAccess(exchange, elapsedSince(startedAt));
  };
  response.once("close", close);
  request.once("error", close); // A pipelined request loses its connection before its response has one: only the request hears of it.
  response.on("error", (error) =>
    parts.log.debug({ err: error, requestId: exchange.requestId }, "a reply could not be written"),
  );
  return exchange;
}

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

function logAccess(exchange: Exchange, ms: number): void {
  const { request, response } = exchange;
  exchange.log.info(
    {
      method: request.method,
      path: exchange.path,
      operationId: exchange.operationId,
      status: response.headersSent ? response.statusCode : null,
      complete: response.writableFinished,
      ms,
      requestId: exchange.requestId,
      clientRequestId: exchange.clientRequestId,
    },
    "request",
  );
}
