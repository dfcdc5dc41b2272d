import type { Logger } from "../base/logger.ts";

/** What an operation knows about its request beyond the contract. */
export interface SttContext {
  readonly requestId: string;
  readonly log: Logger;
  /** Aborts when the client leaves, and when a stopping server has waited long enough. */
  readonly signal: AbortSignal;
}
