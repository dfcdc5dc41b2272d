import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { assert } from "../../base/assert.ts";
import { newRequestId } from "../../base/ids.ts";
import type { Application } from "./application.ts";
import { rawReply } from "./raw-reply.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** How long requests may go on once the server is told to stop. */
  readonly drainMs: number;
  /** How long they may still say farewell after that. */
  readonly farewellMs?: number;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /** Without a slash at its end. */
  readonly url: string;
  /** Serves on, but asks clients to look elsewhere: replies close their connections. */
  announceLeaving(): void;
  /**
   * Takes no more connections, lets requests finish, aborts those that do not, and resolves when every connection is
   * gone.
   */
  close(): Promise<void>;
}

const FAREWELL_MS = 500;

/** Longer than proxies keep their side, so that they never write into a connection that we are just closing. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const HEADERS_TIMEOUT_MS = 30_000;

/** Serves an application. Rejects when the address cannot be had. */
export async function listen(application: Application, options: ListenOptions): Promise<RunningServer> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0, // Uploads and streams may take long; pauses are what ends them.
      requireHostHeader: false, // The application refuses it too, and with a body.
      shouldUpgradeCallback: isWebSocket,
    },
    application.serve,
  );
  const upgraded = trackUpgrades(server, application);
  server.on("checkExpectation", application.serve); // Expectations that nobody knows are passed over, as HTTP allows.
  server.on("clientError", (error, socket) => refuseMalformed(error, socket, application));
  server.listen(options.port, options.host);
  await once(server, "listening");
  server.on("error", (error) => application.log.error({ err: error }, "the server failed"));
  const address = server.address();
  assert(address !== null && typeof address === "object", "a server that listens on a port has an address");
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= drain(server, application, upgraded, options));
  const announceLeaving = (): void => application.inFlight.announceLeaving();
  return { address, url: urlOf(address), announceLeaving, close };
}

/**
 * Offers of other protocols, such as HTTP/2, are passed over: HTTP allows that, and their senders go on in HTTP/1.1.
 */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === "websocket";
}

function trackUpgrades(server: Server, application: Application): ReadonlySet<Duplex> {
  const upgraded = new Set<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    application.upgrade(request, socket, head);
  });
  return upgraded;
}

const MALFORMED_STATUSES: ReadonlyMap<string, number> = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);

/** Answers bytes that are not HTTP. The connection is lost either way; the process is not. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex, { faults, log }: Application): void {
  log.debug({ err: error }, "a connection sent what is not HTTP");
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

async function drain(
  server: Server,
  { inFlight, faults }: Application,
  upgraded: ReadonlySet<Duplex>,
  { drainMs, farewellMs = FAREWELL_MS }: ListenOptions,
): Promise<void> {
  inFlight.startDraining();
  const closed = once(server, "close");
  server.close();
  await inFlight.emptied(drainMs);
  inFlight.abortAll(faults.shuttingDown());
  await inFlight.emptied(farewellMs);
  server.closeAllConnections();
  for (const socket of upgraded) socket.destroy();
  await closed;
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
