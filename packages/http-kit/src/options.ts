import type { IncomingHttpHeaders } from "node:http";
import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { Contract } from "./contract.ts";
import { UnreadBytes } from "./exchange/unread-bytes.ts";
import type { Faults } from "./faults.ts";
import type { HandlerTable, ReplyHeaders } from "./handler.ts";
import type { InFlight } from "./in-flight.ts";
import type { RequestHead } from "./request-head.ts";
import type { RequestObserver } from "./request-observer.ts";

/** Everything that transport needs from an interface. Passed as `served` to the functions that serve a request. */
export interface ServedInterface<P = unknown> {
  /** The operations, and the validators of requests and replies. */
  readonly contract: Contract;
  /** One handler for each operation. */
  readonly handlers: HandlerTable<P>;
  /** Authenticates and admits callers. */
  readonly admission: AccessControl<P>;
  /** The errors of the interface. */
  readonly faults: Faults;
  /** Limits and timeouts. */
  readonly options: TransportOptions;
  /** The requests and sockets being served. */
  readonly inFlight: InFlight;
  /** Called for every request. */
  readonly observer?: RequestObserver;
  /** Called for requests whose body was refused before a handler saw it. Must not throw. */
  onRefused?(refusal: RefusedBody<P>): void;
  readonly log: Logger;
}

/** A body that cannot be read or breaks the contract. */
export interface RefusedBody<P> {
  readonly operationId: string;
  readonly principal: P;
  /** Null if unreadable. */
  readonly sentBody: unknown;
  readonly error: unknown;
}

/** Decides who may call the interface. */
export interface AccessControl<P> {
  /** The principal of a request; throws an `ApiError` (401). Called for operations that need a key. */
  authenticate(headers: IncomingHttpHeaders): Promise<P>;
  /** Headers of every reply to an authenticated caller. */
  headersFor?(principal: P): ReplyHeaders;
  /** Fields of the access log for an authenticated caller; no secrets. */
  logFieldsFor?(principal: P): object;
  /** The principal of operations that need no key. */
  readonly anonymous: P;
  /** Throws an `ApiError` for callers that are refused on every path. */
  admit?(caller: RequestHead): void;
}

const MIB = 1024 * 1024;

export interface TransportOptions {
  /** Maximum bytes of a request body, both compressed and unpacked. */
  readonly bodyBytesMax: number;
  /**
   * The maximum bytes in memory of all bodies and messages while they are read. Shared by the interfaces of one
   * process.
   */
  readonly incoming: ByteBudget;
  /** Counts and limits the waiting bytes of slow readers. Shared by the interfaces of one process. */
  readonly unread: UnreadBytes;
  /** Maximum bytes of one uploaded file. */
  readonly fileBytesMax: number;
  /** The folder for uploaded files while their request is served; null keeps them in memory. */
  readonly uploadFolder: string | null;
  /** Maximum bytes of one NDJSON line, and of one WebSocket message. */
  readonly messageBytesMax: number;
  /** How long a body may send nothing, or less than `BODY_BYTES_PER_SECOND_MIN`. */
  readonly bodyIdleTimeoutMs: number;
  /** How long a whole body may take; does not apply to streams of lines. */
  readonly bodyTotalTimeoutMs: number;
  /** How long a stream of lines may pause. */
  readonly linesIdleTimeoutMs: number;
  /** After this long without an event, an event stream sends a comment. */
  readonly keepAliveMs: number;
  readonly pingIntervalMs: number;
  /** Whether plain JSON bodies are indented by two spaces. */
  readonly prettyJson: boolean;
  /** Operations that are polled: while they succeed, they are logged at debug only. */
  readonly quietOperations: ReadonlySet<string>;
  /** Headers of every reply, besides the request id. */
  readonly standingHeaders: (elapsedMs: number) => Readonly<Record<string, string>>;
  /**
   * Whether web pages of this origin may read replies. Cookies are never read, so a page needs a key like any other
   * client.
   */
  readonly allowsOrigin: (origin: string) => boolean;
}

export const TRANSPORT_DEFAULTS: TransportOptions = {
  bodyBytesMax: 64 * MIB,
  incoming: new ByteBudget(256 * MIB), // Unless set, this and the next are shared by the whole process.
  unread: new UnreadBytes({ bytesMax: 256 * MIB, idleTimeoutMs: 300_000 }),
  fileBytesMax: 20 * MIB,
  uploadFolder: null,
  messageBytesMax: 2 * MIB,
  bodyIdleTimeoutMs: 60_000,
  bodyTotalTimeoutMs: 3_600_000,
  linesIdleTimeoutMs: 300_000,
  keepAliveMs: 15_000,
  pingIntervalMs: 30_000,
  prettyJson: false,
  quietOperations: new Set(),
  standingHeaders: () => ({}),
  allowsOrigin: () => false,
};
