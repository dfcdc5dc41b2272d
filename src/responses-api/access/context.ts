import type { Logger } from "../../base/logger.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import type { Principal } from "./authenticate.ts";

/** Who is at the other end of the connection. */
export interface Peer {
  readonly remoteAddress: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** What an operation knows about its request beyond the contract. */
export interface ApiContext {
  readonly requestId: string;
  readonly principal: Principal;
  readonly caller: Peer;
  /** The trace that calls made for the request belong to. */
  readonly trace: TraceContext | null;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}
