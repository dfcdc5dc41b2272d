/** What the probe measured in the main thread of a server, in milliseconds. */
export interface Probed {
  /** How late the event loop was. */
  readonly delayMs: {
    readonly p50: number;
    readonly p90: number;
    readonly p99: number;
    readonly p999: number;
    readonly max: number;
  };
  readonly sqlite: { readonly calls: number; readonly longestMs: number; readonly totalMs: number };
  /** Processor time of the thread in one turn of the event loop, garbage collections on this thread included. */
  readonly pieces: { readonly longestMs: number; readonly totalMs: number };
  /** Of garbage. */
  readonly collections: { readonly longestMs: number; readonly totalMs: number };
}
