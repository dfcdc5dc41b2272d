import type { Logger } from "../base/logger.ts";

/** What an operation gets about its request besides the members of the contract. */
export interface SttContext {
  readonly requestId: string;
  readonly log: Logger;
  /** Aborts when the client disconnects, or when a stopping server ends its remaining requests. */
  readonly signal: AbortSignal;
}
