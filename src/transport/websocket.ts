import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { ApiError } from "../base/api-error.ts";
import { newRequestId } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import { type Admission, admitCaller, callerOf } from "./admission.ts";
import { singleHeader, splitUrl } from "./exchange.ts";
import type { Faults } from "./faults.ts";
import type { ReplyHeaders, RequestContext } from "./handler.ts";
import type { InFlight } from "./in-flight.ts";
import type { TransportOptions } from "./options.ts";
import { rawReply } from "./raw-reply.ts";
import { converse } from "./websocket-session.ts";

/** What answers WebSockets at a path; the messages are JSON values in text frames, both ways. */
export type Upgrade<P> = { readonly path: string } & (
  | { readonly refuse: (path: string) => ApiError }
  | {
      readonly secured: boolean;
      readonly operationId: string;
      readonly handle: (messages: AsyncIterable<unknown>, context: RequestContext<P>) => AsyncIterable<object>;
    }
);

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface UpgradeParts<P> {
  readonly upgrades: readonly Upgrade<P>[];
  readonly admission: Admission<P>;
  readonly faults: Faults;
  readonly options: TransportOptions;
  readonly inFlight: InFlight;
  readonly log: Logger;
}

/** Turns upgrade requests into conversations; whatever cannot become one gets a plain HTTP reply. */
export function acceptUpgrades<P>(parts: UpgradeParts<P>): UpgradeListener {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: parts.options.messageBytesMax,
    clientTracking: false,
  });
  const opening = new WeakMap<IncomingMessage, ReplyHeaders>();
  server.on("headers", (lines, request) => {
    for (const [name, value] of Object.entries(opening.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });
  return (request, socket, head) => {
    socket.on("error", (error) => parts.log.debug({ err: error }, "an upgrading connection failed"));
    open(request, parts).then(
      ({ headers, start }) => {
        opening.set(request, headers);
        server.handleUpgrade(request, socket, head, start);
      },
      (error: unknown) => refuse(request, socket, error, parts),
    );
  };
}

interface OpenedUpgrade {
  /** Of the reply that makes it a WebSocket. */
  readonly headers: ReplyHeaders;
  readonly start: (socket: WebSocket) => void;
}

/** Passes the doors, and gives back what to answer and what to do with the socket. */
async function open<P>(request: IncomingMessage, parts: UpgradeParts<P>): Promise<OpenedUpgrade> {
  const { admission, faults, inFlight } = parts;
  admitCaller(callerOf(request), admission, inFlight, faults);
  const [path] = splitUrl(request.url ?? "/");
  const upgrade = parts.upgrades.find((known) => known.path === path);
  if (upgrade === undefined) throw faults.unknownRoute(request.method ?? "", path);
  if ("refuse" in upgrade) throw upgrade.refuse(path);
  const principal = upgrade.secured ? await admission.authenticate(request.headers) : admission.anonymous;
  const requestId = newRequestId();
  const callerHeaders = upgrade.secured ? admission.headersFor?.(principal) : {};
  const start = (socket: WebSocket): void => {
    const flight = inFlight.begin();
    const context: RequestContext<P> = {
      requestId,
      clientRequestId: singleHeader(request.headers["x-client-request-id"]),
      principal,
      signal: flight.signal,
      operationId: upgrade.operationId,
      receivedAt: Date.now(),
      log: parts.log,
    };
    converse(socket, flight, (messages) => upgrade.handle(messages, context), {
      ...parts,
      requestId,
    });
  };
  return { headers: { "x-request-id": requestId, ...parts.options.standingHeaders(0), ...callerHeaders }, start };
}

function refuse<P>(
  request: IncomingMessage,
  socket: Duplex,
  error: unknown,
  { faults, log, options }: UpgradeParts<P>,
): void {
  const requestId = newRequestId();
  if (!(error instanceof ApiError)) log.error({ err: error, requestId }, "an upgrade failed");
  const fault = error instanceof ApiError ? error : faults.internalError(requestId);
  const headers = { "x-request-id": requestId, ...options.standingHeaders(0), ...fault.headers };
  socket.once("finish", () => socket.destroy()); // The other side may keep its half open for ever.
  socket.end(rawReply(fault.status, headers, faults.renderError(fault)));
  log.info({ path: splitUrl(request.url ?? "/")[0], status: fault.status, requestId }, "an upgrade was refused");
}
