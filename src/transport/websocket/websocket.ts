import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { ApiError } from "../../base/api-error.ts";
import { newRequestId } from "../../base/ids.ts";
import { readTraceContext } from "../../base/trace-context.ts";
import type { QueryParameter } from "../contract.ts";
import { namedFault } from "../faults.ts";
import type { ReplyHeaders, RequestContext } from "../handler.ts";
import { admitCaller, callerOf, singleHeader, splitUrl } from "../http/exchange.ts";
import { rawReply } from "../http/raw-reply.ts";
import { readQuery } from "../http/read-query.ts";
import type { ServedInterface } from "../options.ts";
import { BoundedWebSocket } from "./bounded-websocket.ts";
import type { IncomingSocket } from "./websocket-inbox.ts";
import { runWebSocketSession } from "./websocket-session.ts";

/** What answers WebSockets at a path. */
export type Upgrade<P> = { readonly path: string } & (
  | { readonly refuse: (path: string) => ApiError }
  | SocketEndpoint<P>
);

/** How many sessions there may be at once, and what is said to one more. */
export interface Room {
  readonly socketsMax: number;
  readonly refuse: (socketsMax: number) => ApiError;
}

/** The messages are JSON values in text frames, both ways. */
export interface SocketEndpoint<P> {
  readonly secured: boolean;
  readonly operationId: string;
  /** Bytes of one message; left out: those of the transport's options. */
  readonly messageBytesMax?: number;
  /** How many may be held at once; left out: as many as come. */
  readonly room?: Room & { readonly perCaller?: Room & { readonly nameOf: (principal: P) => string } };
  /** The query parameters that the handler reads, as the contract describes them; left out: none. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Rejects with the `ApiError` of a caller who may begin none now. */
  readonly admitCaller?: (principal: P) => Promise<void>;
  /**
   * Throws the `ApiError` of a session that cannot be begun now. Nothing else happens between this and its
   * beginning.
   */
  readonly admit?: () => void;
  /**
   * Whether its messages end when all is said and never because the server stops: they are then followed by 1000 also
   * while it does.
   */
  readonly endsByItself?: boolean;
  /** What is still said when a session breaks; left out: the interface's `streamError`. */
  readonly lastWords?: (error: ApiError) => object;
  /** For a message that is not JSON text the iteration of `messages` throws; `next` can be called again afterwards. */
  readonly handle: (messages: AsyncIterableIterator<unknown>, context: SocketContext<P>) => AsyncIterable<object>;
}

/** What a handler knows about its session. */
export interface SocketContext<P> extends RequestContext<P> {
  /** Aborts when the server begins to stop: what is being answered may be finished. */
  readonly draining: AbortSignal;
  readonly query: Readonly<Record<string, unknown>>;
  /** Whose session it is by now; throws as the upgrade would, for instance for a key that was revoked since. */
  authenticate(): Promise<P>;
}

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Turns upgrade requests into sessions; whatever cannot become one gets a plain HTTP reply. */
export function acceptUpgrades<P>(upgrades: readonly Upgrade<P>[], served: ServedInterface<P>): UpgradeListener {
  const doors = new Map(upgrades.map((upgrade) => [upgrade.path, doorOf(upgrade, served)]));
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    admitCaller(callerOf(request), served);
    const [path] = splitUrl(request.url ?? "/");
    const door = doors.get(path);
    if (door === undefined) throw served.faults.unknownRoute(request.method ?? "", path);
    await door.open(request, socket, head);
  };
  return (request, socket, head) => {
    socket.on("error", (error) => served.log.debug({ err: error }, "an upgrading connection failed"));
    accept(request, socket, head).catch((error: unknown) => refuse(request, socket, error, served));
  };
}

interface Door {
  /** Throws, having written nothing, for whoever may not come in. */
  open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

function doorOf<P>(upgrade: Upgrade<P>, served: ServedInterface<P>): Door {
  if (!("refuse" in upgrade)) return new SocketDoor(upgrade, served);
  return { open: () => Promise.reject(upgrade.refuse(upgrade.path)) };
}

/** The way into the sessions of one path. */
class SocketDoor<P> implements Door {
  readonly #endpoint: SocketEndpoint<P>;
  readonly #served: ServedInterface<P>;
  readonly #server: WebSocketServer;
  readonly #messageBytesMax: number;
  readonly #replyHeaders = new WeakMap<IncomingMessage, ReplyHeaders>();
  #held = 0;
  readonly #heldByCaller = new Map<string, number>();

  constructor(endpoint: SocketEndpoint<P>, served: ServedInterface<P>) {
    this.#endpoint = endpoint;
    this.#served = served;
    const maxPayload = endpoint.messageBytesMax ?? served.options.messageBytesMax;
    this.#messageBytesMax = maxPayload;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload,
      clientTracking: false,
      WebSocket: BoundedWebSocket,
    });
    this.#server.on("headers", (lines, request) => {
      const headers = Object.entries(this.#replyHeaders.get(request) ?? {});
      for (const [name, value] of headers) lines.push(`${name}: ${value}`);
    });
  }

  async open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { admission, faults, options } = this.#served;
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
    known: Pick<SocketContext<P>, "requestId" | "principal" | "query">,
  ): void {
    const { inFlight, log, faults, options } = this.#served;
    const { operationId, handle, lastWords, endsByItself = false } = this.#endpoint;
    const leave = this.#enter(known.principal);
    const closed = this.#served.observer?.beginSocket();
    incoming.socket.once("close", () => {
      leave();
      closed?.();
    });
    const flight = inFlight.begin();
    const context: SocketContext<P> = {
      ...known,
      clientRequestId: singleHeader(request.headers["x-client-request-id"]),
      peer: callerOf(request),
      trace: readTraceContext(request.headers),
      signal: flight.signal,
      draining: inFlight.whenDraining,
      operationId,
      receivedAt: Date.now(),
      log,
      authenticate: () => this.#authenticate(request),
    };
    runWebSocketSession(incoming, flight, (messages) => handle(messages, context), {
      requestId: known.requestId,
      draining: inFlight.whenDraining,
      endsByItself,
      faults,
      options,
      log,
      lastWords: (fault, last) => (lastWords === undefined ? faults.streamError(fault, last) : [lastWords(fault)]),
    });
  }

  async #authenticate({ headers }: IncomingMessage): Promise<P> {
    const { admission } = this.#served;
    return this.#endpoint.secured ? await admission.authenticate(headers) : admission.anonymous;
  }

  #checkRoom(principal: P): void {
    const { room } = this.#endpoint;
    if (room === undefined) return;
    if (this.#held >= room.socketsMax) throw room.refuse(room.socketsMax);
    const { perCaller } = room;
    if (perCaller === undefined) return;
    const held = this.#heldByCaller.get(perCaller.nameOf(principal)) ?? 0;
    if (held >= perCaller.socketsMax) throw perCaller.refuse(perCaller.socketsMax);
  }

  /** Counts a session that begins; call what is returned when it is over. */
  #enter(principal: P): () => void {
    const name = this.#endpoint.room?.perCaller?.nameOf(principal) ?? "";
    const count = (change: 1 | -1): void => {
      this.#held += change;
      const held = (this.#heldByCaller.get(name) ?? 0) + change;
      if (held > 0) this.#heldByCaller.set(name, held);
      else this.#heldByCaller.delete(name);
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
  const named = namedFault(error, faults);
  if (named === null) log.error({ err: error, requestId }, "an upgrade failed");
  else if (named.status >= 500) log.warn({ err: error, requestId }, "a request was refused");
  const fault = named ?? faults.internalError(requestId);
  const headers = { "x-request-id": requestId, ...options.standingHeaders(0), ...fault.headers };
  socket.once("finish", () => socket.destroy()); // The other side may keep its half open for ever.
  socket.end(rawReply(fault.status, headers, faults.renderError(fault)));
  log.info({ path: splitUrl(request.url ?? "/")[0], status: fault.status, requestId }, "an upgrade was refused");
}
