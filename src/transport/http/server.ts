import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "../../base/assert.ts";
import { newRequestId } from "../../base/ids.ts";
import type { Application } from "./application.ts";
import { rawReply } from "./raw-reply.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** How long requests may continue after the server is told to stop, in milliseconds. */
  readonly drainMs: number;
  /** How long requests that were then aborted may still finish their replies, in milliseconds. */
  readonly abortGraceMs?: number;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /** Without a trailing slash. */
  readonly url: string;
  /** Keeps serving, but replies close their connections, so that clients go to another server. */
  announceLeaving(): void;
  /**
   * Leaves new connections to another process that listens on the same address. For a moment it still answers what
   * arrives on open ones, and then closes them, so that no request is lost. Resolves after that moment.
   */
  handOver(): Promise<void>;
  /**
   * Refuses new connections, waits for requests up to `drainMs`, aborts the others, and resolves when all connections
   * are closed.
   */
  close(): Promise<void>;
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
  const upgraded = trackUpgrades(server, application);
  server.on("checkExpectation", application.serve); // Unknown expectations are ignored, as HTTP allows.
  server.on("clientError", (error, socket) => refuseMalformed(error, socket, application));
  server.listen(options.port, options.host);
  await once(server, "listening");
  server.on("error", (error) => application.log.error({ err: error }, "the server failed"));
  const address = server.address();
  assert(address !== null && typeof address === "object", "a server that listens on a port has an address");
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  const handOver = async (): Promise<void> => {
    application.inFlight.announceLeaving();
    NetServer.prototype.close.call(server); // Unlike that of HTTP, it leaves idle connections open.
    await sleep(HAND_OVER_MS);
  };
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= drain(server, application, upgraded, { ...options, closed }));
  const announceLeaving = (): void => application.inFlight.announceLeaving();
  return { address, url: urlOf(address), announceLeaving, handOver, close };
}

/**
 * Upgrades to other protocols, such as HTTP/2, are ignored: HTTP allows that, and their clients continue with HTTP/1.1.
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

/** Answers bytes that are not valid HTTP, and closes the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex, { faults, log }: Application): void {
  log.debug({ err: error }, "a connection sent malformed HTTP");
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
  { drainMs, abortGraceMs = ABORT_GRACE_MS, closed }: ListenOptions & { readonly closed: Promise<unknown> },
): Promise<void> {
  inFlight.startDraining();
  server.close();
  await inFlight.waitUntilEmpty(drainMs);
  inFlight.abortAll(faults.shuttingDown());
  await inFlight.waitUntilEmpty(abortGraceMs);
  server.closeAllConnections();
  for (const socket of upgraded) socket.destroy();
  await closed;
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
