import type { IncomingHttpHeaders } from "node:http";
import { ByteBudget } from "../base/limits/byte-budget.ts";
import type { Logger } from "../base/logger.ts";
import type { Contract } from "./contract.ts";
import type { Faults } from "./faults.ts";
import type { HandlerTable, ReplyHeaders } from "./handler.ts";
import type { InFlight } from "./in-flight.ts";
import type { RequestHead } from "./request-head.ts";
import type { RequestObserver } from "./request-observer.ts";
import { UnreadBytes } from "./stream/unread-bytes.ts";

/** What all of transport knows of the interface that it serves: passed on as `served` to whatever serves a request. */
export interface ServedInterface<P = unknown> {
  /** Its operations, and the checks of what comes in and goes out. */
  readonly contract: Contract;
  /** Who answers each of the operations. */
  readonly handlers: HandlerTable<P>;
  /** Who may ask. */
  readonly admission: AccessControl<P>;
  /** How it says what went wrong. */
  readonly faults: Faults;
  /** Limits, times and habits. */
  readonly options: TransportOptions;
  /** What is being served. */
  readonly inFlight: InFlight;
  /** Told of every request. */
  readonly observer?: RequestObserver;
  /** Where all of that is written down. */
  readonly log: Logger;
}

/** Who may come in, as the interface says. */
export interface AccessControl<P> {
  /** Whose request it is; throws an `ApiError` (401). Asked for operations that need a key. */
  authenticate(headers: IncomingHttpHeaders): Promise<P>;
  /** Headers of every reply to a caller who was let in. */
  headersFor?(principal: P): ReplyHeaders;
  /** What the access log says of a caller who was let in; no secrets. */
  logFieldsFor?(principal: P): object;
  /** Who calls an operation that needs no key. */
  readonly anonymous: P;
  /** Throws an `ApiError` for callers that get nothing at all, whatever the path. */
  admit?(caller: RequestHead): void;
}

const MIB = 1024 * 1024;

export interface TransportOptions {
  /** Bytes of a request body, compressed or not. */
  readonly bodyBytesMax: number;
  /**
   * What bodies and messages may hold in memory while they are read, all together. Interfaces of one process share it.
   */
  readonly incoming: ByteBudget;
  /** What waits for slow readers. Interfaces of one process share it. */
  readonly unread: UnreadBytes;
  /** Bytes of one uploaded file. */
  readonly fileBytesMax: number;
  /** Where uploaded files wait while their request is served; null: in memory. */
  readonly uploadFolder: string | null;
  /** Bytes of one line of NDJSON, and of one WebSocket message. */
  readonly messageBytesMax: number;
  /** How long a body may bring nothing, or next to nothing. */
  readonly bodyIdleTimeoutMs: number;
  /** How long a body may take as a whole, a stream of lines excepted. */
  readonly bodyTotalTimeoutMs: number;
  /** How long a stream of lines may pause. */
  readonly linesIdleTimeoutMs: number;
  /** Silence after which an event stream says that it still lives. */
  readonly keepAliveMs: number;
  readonly pingIntervalMs: number;
  /** Plain JSON bodies are indented by two spaces. */
  readonly prettyJson: boolean;
  /** Operations that are called every few seconds: in the log only at debug, as long as they succeed. */
  readonly quietOperations: ReadonlySet<string>;
  /** Headers that every reply carries besides the request id. */
  readonly standingHeaders: (elapsedMs: number) => Readonly<Record<string, string>>;
  /**
   * Whether browsers may let web pages of this origin read replies. No cookie is ever looked at, so a page needs a key
   * like anybody else.
   */
  readonly allowsOrigin: (origin: string) => boolean;
}

export const TRANSPORT_DEFAULTS: TransportOptions = {
  bodyBytesMax: 64 * MIB,
  incoming: new ByteBudget(256 * MIB), // These two are of the process, where nobody says otherwise.
  unread: new UnreadBytes({ bytesMax: 256 * MIB, patienceMs: 300_000 }),
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
