import type { Logger } from "@antiphon/base/logger.ts";
import type { LoopbackConnection } from "./connection-owner.ts";

/** An operation's view of its request besides the members of the contract. */
export interface SttContext {
  readonly requestId: string;
  readonly log: Logger;
  /** The calling connection. */
  readonly peer: LoopbackConnection & { readonly headers: Readonly<Record<string, unknown>> };
  /** Aborts when the client disconnects, or when a stopping server ends its remaining requests. */
  readonly signal: AbortSignal;
}
