import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { newRequestId } from "@antiphon/base/ids.ts";
import { Deadline } from "@antiphon/base/limits/deadline.ts";
import { rawReply } from "../exchange/raw-reply.ts";
import type { Application } from "./application.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** A listening socket that replaces host and port. */
  readonly socket?: ListeningSocket | null;
  /** How long requests may continue after the server is told to stop, in milliseconds. */
  readonly drainMs: number;
  /** How long aborted requests may still finish their replies, in milliseconds. */
  readonly abortGraceMs?: number;
}

/** A listening socket that this process or its primary was started with. */
export interface ListeningSocket {
  readonly fd: number;
  /** Whether the process owns the socket. Otherwise the primary owns it and distributes its connections. */
  readonly isOwn: boolean;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /** Without a trailing slash. */
  readonly url: string;
  /** Keeps serving, but replies close their connections, so that clients go to another server. */
  announceLeaving(): void;
  /**
   * Leaves new connections to another process that listens on the same address. For a moment, still serves requests on
   * open connections, then closes them, so that no request is lost. Resolves after that moment.
   */
  handOver(): Promise<void>;
  /**
   * Refuses new connections, waits for requests until `until` aborts, aborts the others, and resolves when all
   * connections are closed. Default of `until`: after `drainMs`.
   */
  close(until?: AbortSignal): Promise<void>;
}

const ABORT_GRACE_MS = 500;

/** How long open connections may still bring requests after a hand-over. */
const HAND_OVER_MS = 1_000;

/** Longer than proxies keep idle connections, so that they do not send a request while we close the connection. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const HEADERS_TIMEOUT_MS = 30_000;

/** Serves an application. Rejects if it cannot listen on the address. */
export async function listen(application: Application, options: ListenOptions): Promise<RunningServer> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0, // Uploads and streams may take long; other timeouts end those that stall.
      requireHostHeader: false, // The application refuses such requests itself, with a JSON body.
      shouldUpgradeCallback: isWebSocket,
    },
    application.serve,
  );
  const upgradedSockets = trackUpgrades(server, application);
  server.on("checkExpectation", application.serve); // Unknown expectations are ignored, as HTTP allows.
  server.on("clientError", (error, socket) => refuseMalformed(error, socket, application));
  startListening(server, options);
  await once(server, "listening");
  server.on("error", (error) => application.log.error({ err: error }, "server failed"));
  const address = server.address();
  if (address === null || typeof address !== "object") throw new Error("the given socket is none of TCP");
  const closeEvent = new Promise<void>((resolve) => server.once("close", resolve));
  const handOver = async (): Promise<void> => {
    application.inFlight.announceLeaving();
    NetServer.prototype.close.call(server); // Unlike the HTTP server's close, it leaves idle connections open.
    await sleep(HAND_OVER_MS);
  };
  let closing: Promise<void> | null = null;
  const close = (until?: AbortSignal): Promise<void> =>
    (closing ??= drain(server, application, upgradedSockets, { ...options, until, closeEvent }));
  const announceLeaving = (): void => application.inFlight.announceLeaving();
  return { address, url: urlOf(address), announceLeaving, handOver, close };
}

function startListening(server: Server, { socket = null, host, port }: ListenOptions): void {
  if (socket === null) server.listen(port, host);
  else if (!socket.isOwn) server.listen({ fd: socket.fd });
  // A process of a cluster would ask its primary for a number, but not for a socket.
  else server.listen(new Socket({ fd: socket.fd, readable: false, writable: false }));
}

/**
 * Upgrades to other protocols, such as HTTP/2, are ignored: HTTP allows that, and their clients continue with HTTP/1.1.
 */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === "websocket";
}

function trackUpgrades(server: Server, application: Application): ReadonlySet<Duplex> {
  const upgradedSockets = new Set<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    upgradedSockets.add(socket);
    socket.once("close", () => upgradedSockets.delete(socket));
    application.upgrade(request, socket, head);
  });
  return upgradedSockets;
}

const MALFORMED_STATUSES: ReadonlyMap<string, number> = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);

/** Answers bytes that are not valid HTTP, and closes the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex, { faults, log }: Application): void {
  log.debug({ err: error }, "connection sent malformed HTTP");
  socket.on("error", () => socket.destroy());
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const fault = faults.malformedRequest(MALFORMED_STATUSES.get(error.code ?? "") ?? 400);
  socket.end(
    rawReply(fault.status, { "x-request-id": newRequestId(), ...fault.headers }, faults.renderError(fault)),
    () => socket.destroy(),
  );
}

interface Draining extends ListenOptions {
  readonly until: AbortSignal | undefined;
  readonly closeEvent: Promise<unknown>;
}

async function drain(
  server: Server,
  { inFlight, faults }: Application,
  upgradedSockets: ReadonlySet<Duplex>,
  { drainMs, abortGraceMs = ABORT_GRACE_MS, until, closeEvent }: Draining,
): Promise<void> {
  inFlight.startDraining();
  server.close();
  if (until === undefined) await waitAtMost(inFlight, drainMs);
  else await inFlight.waitUntilEmpty(until);
  inFlight.abortAll(faults.shuttingDown());
  await waitAtMost(inFlight, abortGraceMs);
  server.closeAllConnections();
  for (const socket of upgradedSockets) socket.destroy();
  await closeEvent;
}

async function waitAtMost(inFlight: Application["inFlight"], ms: number): Promise<void> {
  const deadline = new Deadline(ms);
  await inFlight.waitUntilEmpty(deadline.signal);
  deadline.clear();
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
