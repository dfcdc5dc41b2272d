import { ByteBudget } from "../base/limits/byte-budget.ts";
import { UnreadBytes } from "./stream/unread-bytes.ts";

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
