import type { ToolOutputContentPart } from "../../generated/responses-api/types.ts";
import type { HostedItem } from "../runs/hosted.ts";
import type { ModelEvent, ModelUsage } from "../runs/ports/model-events.ts";
import type { Owner } from "../runs/ports/owner.ts";
import type { ToolUsage } from "./hosted-tool.ts";

/** A call of a hosted function before it runs. */
export interface BegunExchange {
  /** The id of the item that shows the call. */
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  /** The label of the MCP server; null for the tools of this server. */
  readonly server: string | null;
  /** JSON text, word for word as the model wrote it. */
  readonly arguments: string;
  /** What a second run of the call could do. */
  readonly effect: "none" | "sandboxed" | "may_have";
  /** The approval that allowed it. An approval is spent by its first call. */
  readonly approvalRequestId: string | null;
  /** The turn of the model that made it, from 1; 0 if it ran before the model was asked. */
  readonly turn: number;
}

/** How a call ended, as the model is shown it. */
export interface FinishedExchange {
  readonly itemId: string;
  /** The last form of the item, whole, whatever the request includes. */
  readonly item: HostedItem;
  readonly output: string;
  readonly parts: readonly ToolOutputContentPart[];
  /** What it adds to `tool_usage`; null if nothing. */
  readonly usage: ToolUsage | null;
  /** `unknown`: the call was interrupted, and nobody knows whether it took effect. */
  readonly outcome: "finished" | "unknown";
  /** The last forms of the items that follow it, such as the output of a shell call. */
  readonly following?: readonly HostedItem[];
}

/** A turn of the model that has ended. */
export interface TurnInLedger {
  /** From 1. */
  readonly number: number;
  readonly usage: ModelUsage;
  /** What the model decided, so that it is never asked again; null for a turn that an earlier release has stored. */
  readonly decision: TurnDecision | null;
}

/** All that a model said and called in a turn. Plain JSON. */
export interface TurnDecision {
  readonly finish: TurnFinish;
  /** In the order in which the model made them. */
  readonly parts: readonly DecidedPart[];
}

/** Why a model ended its turn. */
export type TurnFinish = Extract<ModelEvent, { type: "finished" }>["reason"];

export type DecidedPart =
  /** An item that the model wrote as a whole: a message, reasoning, or a call of the client. `events` make it. */
  | { readonly type: "said"; readonly item: "message" | "reasoning" | "call"; readonly events: readonly ModelEvent[] }
  /** A call of one of this server's tools. */
  | DecidedCall;

export interface DecidedCall {
  readonly type: "call";
  /** Null if its item begins only when it runs, or if it has none. */
  readonly itemId: string | null;
  readonly callId: string;
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
  /** What the model is told in place of a result, if the call is not run; null if it is. */
  readonly refusal: string | null;
}

/** A call that is known to have begun. `result` is null until it has ended. */
export interface KnownExchange extends BegunExchange {
  readonly result: FinishedExchange | null;
}

/** An approval allows one call, and a call was made with it already. */
export class ApprovalSpent extends Error {
  override readonly name = "ApprovalSpent";
}

/** The calls of hosted functions, word for word as the model made and saw them. They go with their items. */
export interface ToolLedger {
  /**
   * Durable when it resolves, which is before the call runs. A call without effects may begin again under its item.
   * Rejects with `RunLost` if another worker has the run, and with `ApprovalSpent`.
   */
  begin(owner: Owner, responseId: string, exchange: BegunExchange): Promise<void>;
  /** Durable when it resolves, which is before the end of the item is shown. Rejects as `begin` does. */
  finish(owner: Owner, responseId: string, result: FinishedExchange): Promise<void>;
  /** Stores what a turn used. Durable when it resolves. Rejects as `begin` does. */
  endTurn(owner: Owner, responseId: string, turn: TurnInLedger): Promise<void>;
  /** The turns of this response that have ended, oldest first. */
  turnsOf(owner: Owner, responseId: string): Promise<readonly TurnInLedger[]>;
  /** The calls that these items show. Unknown ids and those of other owners are absent. */
  find(owner: Owner, itemIds: readonly string[]): Promise<ReadonlyMap<string, KnownExchange>>;
  /** All calls that this response has begun, in no order. */
  listOf(owner: Owner, responseId: string): Promise<readonly KnownExchange[]>;
  /**
   * Marks an approval as used by a response that is not stored; does nothing if its request is not stored either.
   * Durable when it resolves. Rejects with `ApprovalSpent`.
   */
  spend(owner: Owner, responseId: string, approvalRequestId: string): Promise<void>;
  /** Those of these approvals that were used. */
  findSpent(owner: Owner, approvalRequestIds: readonly string[]): Promise<ReadonlySet<string>>;
}
