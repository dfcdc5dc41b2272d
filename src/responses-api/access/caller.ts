import type { StoredItem } from "../../../generated/responses-api/types.ts";
import type { Logger } from "../../base/logger.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import type { Principal } from "./authenticate.ts";

/** Who asks, over whichever transport, and for how long they wait for an answer. */
export interface Caller {
  readonly principal: Principal;
  /** Aborts when the client leaves; that ends a response of the foreground. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** The trace that calls made for the request belong to. */
  readonly trace: TraceContext | null;
  readonly log: Logger;
  /** Who is at the other end of the connection. */
  readonly peer: Peer;
  /** False: nothing is answered, and the response can be continued all the same. Absent: true. */
  readonly generate?: boolean;
  /** Earlier turns that only the caller's connection knows. Absent: there are none. */
  readonly remembered?: RememberedTurns;
}

export interface Peer {
  readonly remoteAddress: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Responses that are kept outside the store, for the one who asks; the store is asked for all others. */
export interface RememberedTurns {
  find(responseId: string): RememberedTurn | null;
}

/** A response that is kept outside the store. */
export interface RememberedTurn {
  /** The stored response that its chain goes on from; null: nothing stored comes before it. */
  readonly after: string | null;
  /** What was said since then, its own output included, oldest first. */
  readonly items: readonly StoredItem[];
}
