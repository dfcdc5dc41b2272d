import type { Logger } from "@antiphon/base/logger.ts";
import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { LastingRuns } from "@antiphon/domain/batches/batch-work.ts";
import type { FaceOrigin } from "@antiphon/domain/faces.ts";
import type { ModelExtras } from "@antiphon/domain/models/model-request.ts";
import type { KnownExchange } from "@antiphon/domain/tool-ledger.ts";
import type { TakenSteers } from "../../runs/ports/event-log.ts";
import type { Principal } from "./authenticate.ts";
import type { RunHold } from "./key-hold.ts";

/** The sender of one request, over HTTP or WebSocket. */
export interface Caller {
  readonly principal: Principal;
  /** Aborts when the client leaves, which ends a foreground response. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** The trace of all calls caused by the request. */
  readonly trace: TraceContext | null;
  readonly log: Logger;
  /** The other end of the connection. */
  readonly peer: Peer;
  /** If false, the model is not called, and the response stays empty but can be continued. True if absent. */
  readonly generate?: boolean;
  /** Settings for the model that a create request has no members for. None if absent. */
  readonly extras?: ModelExtras | null;
  /** The face of the API that the request came by, if not the Responses API. */
  readonly face?: FaceOrigin | null;
  /** What a repeated request finds the response by. None if absent. */
  readonly runHold?: RunHold;
  /** Whether the client has added input that waits for the response to end. Never if absent. */
  readonly isSteered?: () => boolean;
  /** The inputs of another response that this one takes. Those that wait for its request's results if absent. */
  readonly steers?: TakenSteers;
  /** Keeps the responses of this caller over crashes. They end with its connection if absent. */
  readonly lastingRuns?: LastingRuns;
  /** Earlier turns that only the caller's connection remembers. None if absent. */
  readonly earlierTurns?: RememberedTurns;
}

export interface Peer {
  readonly remoteAddress: string;
  /** The headers by name in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Responses in a connection's memory. All other responses are looked up in the store. */
export interface RememberedTurns {
  find(responseId: string): RememberedTurn | null;
}

/** A response that is in memory and not in the store. */
export interface RememberedTurn {
  /** The stored response that its chain continues; null if the chain begins in memory. */
  readonly after: string | null;
  /** The items since then, its own output included, oldest first. */
  readonly items: readonly StoredItem[];
  /** The calls of hosted functions behind these items. */
  readonly exchanges: readonly KnownExchange[];
}
