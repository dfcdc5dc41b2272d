import type { Logger } from "../base/logger.ts";
import type { Principal } from "./authenticate.ts";

/** What an operation knows about its request beyond the contract. */
export interface ApiContext {
  readonly requestId: string;
  readonly principal: Principal;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}
