import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ApiError } from "@antiphon/base/api-error.ts";
import { newRequestId } from "@antiphon/base/ids.ts";
import { readTraceContext } from "@antiphon/base/trace-context.ts";
import { WebSocket, WebSocketServer } from "ws";
import type { QueryParameter } from "../contract.ts";
import { admitCaller, callerOf, splitUrl } from "../exchange/exchange.ts";
import { rawReply } from "../exchange/raw-reply.ts";
import { readQuery } from "../exchange/read-query.ts";
import { namedFault } from "../faults.ts";
import type { ReplyHeaders, RequestContext } from "../handler.ts";
import type { ServedInterface } from "../options.ts";
import type { IncomingSocket } from "./websocket-inbox.ts";
import { runWebSocketSession } from "./websocket-session.ts";

/** A path that accepts WebSockets, or refuses them with an error. */
export type Upgrade<P> = { readonly path: string } & (
  | { readonly refuse: (path: string) => ApiError }
  | SocketEndpoint<P>
);

/** How many sessions may be open at once, and the error for one more. */
export interface SocketLimit {
  readonly socketsMax: number;
  readonly refuse: (socketsMax: number) => ApiError;
}

/** A path that serves sessions. Messages are JSON values in text frames, in both directions. */
export interface SocketEndpoint<P> {
  readonly secured: boolean;
  /** Maximum bytes of one message; by default that of the transport's options. */
  readonly messageBytesMax?: number;
  /** The limit of open sessions; none by default. */
  readonly room?: SocketLimit & { readonly perCaller?: SocketLimit & { readonly nameOf: (principal: P) => string } };
  /** Authenticates callers of this path, if not as those of operations. Throws like the admission's `authenticate`. */
  readonly authenticate?: (headers: IncomingHttpHeaders) => Promise<P>;
  /** The subprotocols that are spoken; of several that a client offers, its first one is chosen. Any by default. */
  readonly protocols?: readonly string[];
  /** The query parameters that the handler reads, as the contract describes them; none by default. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Rejects with an `ApiError` if the caller may not open a session now. */
  readonly admitCaller?: (principal: P) => Promise<void>;
  /** Throws an `ApiError` if no session can be opened now. The session starts in the same turn of the event loop. */
  readonly admit?: () => void;
  /**
   * Whether the handler's messages end only when the session is complete, never because the server stops. The socket is
   * then closed with 1000 even while the server is stopping.
   */
  readonly endsByItself?: boolean;
  /** The message to send when a session fails; by default the interface's `streamError`. */
  readonly errorMessage?: (error: ApiError) => object;
  /** `messages.next()` rejects if a message is not JSON text; later messages can still be read. */
  readonly handle: (
    messages: AsyncIterableIterator<unknown>,
    context: SocketContext<P>,
    query: Readonly<Record<string, unknown>>,
  ) => AsyncIterable<object>;
}

/** What a handler knows about its session. */
export interface SocketContext<P> extends Omit<RequestContext<P>, "clientRequestId" | "operationId"> {
  /** Aborts when the server begins to stop; answers in progress may be finished. */
  readonly draining: AbortSignal;
  /** Authenticates the session again. Throws like the upgrade, for instance if the key was revoked since. */
  authenticate(): Promise<P>;
}

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Turns upgrade requests into sessions. Refused upgrades get a plain HTTP reply. */
export function acceptUpgrades<P>(upgrades: readonly Upgrade<P>[], service: ServedInterface<P>): UpgradeListener {
  const targets = new Map(upgrades.map((upgrade) => [upgrade.path, targetOf(upgrade, service)]));
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    admitCaller(callerOf(request), service);
    const [path] = splitUrl(request.url ?? "/");
    const target = targets.get(path);
    if (target === undefined) throw service.faults.unknownRoute(request.method ?? "", path);
    await target.open(request, socket, head);
  };
  return (request, socket, head) => {
    socket.on("error", (error) => service.log.debug({ err: error }, "upgrading connection failed"));
    accept(request, socket, head).catch((error: unknown) => refuse(request, socket, error, service));
  };
}

interface UpgradeTarget {
  /** Rejects, before anything is written, if the upgrade is refused. */
  open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

function targetOf<P>(upgrade: Upgrade<P>, service: ServedInterface<P>): UpgradeTarget {
  if (!("refuse" in upgrade)) return new SocketTarget(upgrade, service);
  return { open: () => Promise.reject(upgrade.refuse(upgrade.path)) };
}

/** Opens the sessions of one path. */
class SocketTarget<P> implements UpgradeTarget {
  readonly #endpoint: SocketEndpoint<P>;
  readonly #service: ServedInterface<P>;
  readonly #server: WebSocketServer;
  readonly #messageBytesMax: number;
  readonly #replyHeaders = new WeakMap<IncomingMessage, ReplyHeaders>();
  #open = 0;
  readonly #openByCaller = new Map<string, number>();

  constructor(endpoint: SocketEndpoint<P>, service: ServedInterface<P>) {
    this.#endpoint = endpoint;
    this.#service = service;
    const maxPayload = endpoint.messageBytesMax ?? service.options.messageBytesMax;
    const { protocols } = endpoint;
    this.#messageBytesMax = maxPayload;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload,
      clientTracking: false,
      WebSocket: BoundedWebSocket,
      ...(protocols === undefined
        ? {}
        : { handleProtocols: (offered: Set<string>) => [...offered].find((one) => protocols.includes(one)) ?? false }),
    });
    this.#server.on("headers", (lines, request) => {
      const headers = Object.entries(this.#replyHeaders.get(request) ?? {});
      for (const [name, value] of headers) lines.push(`${name}: ${value}`);
    });
  }

  async open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { admission, faults, options } = this.#service;
    const requestId = newRequestId();
    const principal = await this.#authenticate(request);
    const query = readQuery(this.#endpoint.query ?? {}, splitUrl(request.url ?? "/")[1], faults);
    if (this.#endpoint.admitCaller !== undefined) await this.#endpoint.admitCaller(principal);
    this.#checkRoom(principal);
    this.#endpoint.admit?.();
    const callerHeaders = this.#endpoint.secured ? admission.headersFor?.(principal) : {};
    const headers = { "x-request-id": requestId, ...options.standingHeaders(0), ...callerHeaders };
    this.#replyHeaders.set(request, headers);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#start({ socket: webSocket, wire: socket, messageBytesMax: this.#messageBytesMax }, request, {
        requestId,
        principal,
        query,
      });
    });
  }

  #start(
    incoming: IncomingSocket,
    request: IncomingMessage,
    {
      query,
      ...socketContext
    }: Pick<SocketContext<P>, "requestId" | "principal"> & { readonly query: ReturnType<typeof readQuery> },
  ): void {
    const { inFlight, log, faults, options } = this.#service;
    const { handle, errorMessage, endsByItself = false } = this.#endpoint;
    const leave = this.#enter(socketContext.principal);
    const onClose = this.#service.observer?.beginSocket();
    incoming.socket.once("close", () => {
      leave();
      onClose?.();
    });
    const flight = inFlight.begin();
    const context: SocketContext<P> = {
      ...socketContext,
      peer: callerOf(request),
      trace: readTraceContext(request.headers),
      signal: flight.signal,
      draining: inFlight.whenDraining,
      log,
      authenticate: () => this.#authenticate(request),
    };
    runWebSocketSession(incoming, flight, (messages) => handle(messages, context, query), {
      requestId: socketContext.requestId,
      draining: inFlight.whenDraining,
      endsByItself,
      faults,
      options,
      log,
      errorMessages: (fault, last) =>
        errorMessage === undefined ? faults.streamError(fault, last) : [errorMessage(fault)],
    });
  }

  async #authenticate({ headers }: IncomingMessage): Promise<P> {
    const { admission } = this.#service;
    const { authenticate, secured } = this.#endpoint;
    if (authenticate !== undefined) return authenticate(headers);
    return secured ? await admission.authenticate(headers) : admission.anonymous;
  }

  #checkRoom(principal: P): void {
    const { room } = this.#endpoint;
    if (room === undefined) return;
    if (this.#open >= room.socketsMax) throw room.refuse(room.socketsMax);
    const { perCaller } = room;
    if (perCaller === undefined) return;
    const socketCount = this.#openByCaller.get(perCaller.nameOf(principal)) ?? 0;
    if (socketCount >= perCaller.socketsMax) throw perCaller.refuse(perCaller.socketsMax);
  }

  /** Counts a session that starts. Call the returned function when it has ended. */
  #enter(principal: P): () => void {
    const name = this.#endpoint.room?.perCaller?.nameOf(principal) ?? "";
    const count = (change: 1 | -1): void => {
      this.#open += change;
      const socketCount = (this.#openByCaller.get(name) ?? 0) + change;
      if (socketCount > 0) this.#openByCaller.set(name, socketCount);
      else this.#openByCaller.delete(name);
    };
    count(1);
    return () => count(-1);
  }
}

function refuse<P>(
  request: IncomingMessage,
  socket: Duplex,
  error: unknown,
  { faults, log, options }: ServedInterface<P>,
): void {
  const requestId = newRequestId();
  const match = namedFault(error, faults);
  if (match === null) log.error({ err: error, requestId }, "upgrade failed");
  const fault = match ?? faults.internalError(requestId);
  const headers = { "x-request-id": requestId, ...options.standingHeaders(0), ...fault.headers };
  socket.once("finish", () => socket.destroy()); // The client might never close its half of the connection.
  socket.end(rawReply(fault.status, headers, faults.renderError(fault)));
  const fields = { path: splitUrl(request.url ?? "/")[0], status: fault.status, requestId };
  if (match !== null && match.status >= 500) log.warn({ ...fields, err: match }, "upgrade refused");
  else log.info(fields, "upgrade refused");
}

const MESSAGE_TOO_LARGE = 1009;

/**
 * A WebSocket that emits `oversized` when a message is too large and stays open for writing, so that an error can be
 * sent. `ws` would close it with the code alone. Nothing more can be read from it.
 */
class BoundedWebSocket extends WebSocket {
  #isOversized = false;

  override close(code?: number, reason?: string | Buffer): void {
    const isFirst = code === MESSAGE_TOO_LARGE && reason === undefined && !this.#isOversized;
    if (!isFirst || this.listenerCount("oversized") === 0) return super.close(code, reason);
    this.#isOversized = true;
    this.emit("oversized");
  }
}
