import type { SettledState, ToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import type { CallEffect, ToolUsage } from "./hosted-tool.ts";
import type { HostedItem } from "./models/hosted.ts";
import type { ModelEvent, ModelUsage } from "./models/model-events.ts";
import type { Owner } from "./owner.ts";

/** A call of a hosted function before it runs. */
export interface BegunExchange {
  /** The id of the item of the call. */
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  /** The label of the MCP server; null for the tools of this server. */
  readonly server: string | null;
  /** JSON text, exactly as the model wrote it. */
  readonly arguments: string;
  /** The possible effect of running the call twice. */
  readonly effect: CallEffect;
  /** The approval for the call. Each approval is valid for one call. */
  readonly approvalRequestId: string | null;
  /** The model's turn that made the call, from 1; 0 if the call ran before the first turn. */
  readonly turn: number;
  /** The attempts so far, oldest first. Empty for calls of earlier releases. */
  readonly attempts: readonly CallAttempt[];
}

/** One of the times that a call was made. */
export interface CallAttempt {
  /** In Unix milliseconds, before anything was sent. */
  readonly startedAt: number;
  /** In Unix milliseconds. Null while it runs, and for ever if its process ended first. */
  readonly endedAt: number | null;
  /** The name of the server that made it. */
  readonly node: string;
  /** Null while it runs. */
  readonly outcome: AttemptOutcome | null;
}

/**
 * `done`: the tool has succeeded. `failed`: it certainly did nothing, or said that it failed. `asked`: it has asked the
 * user, and goes on with the answer. `unknown`: it may have acted.
 */
export type AttemptOutcome = "done" | "failed" | "asked" | "unknown";

/** The result of a call as the model sees it. */
export interface FinishedExchange {
  readonly itemId: string;
  /** The last form of the item, complete, whatever the request includes. */
  readonly item: HostedItem;
  readonly output: string;
  readonly parts: readonly ToolOutputContentPart[];
  /** Its part of `tool_usage`; null if none. */
  readonly usage: ToolUsage | null;
  /** `unknown`: the call was interrupted and may have taken effect. */
  readonly outcome: "finished" | "unknown";
  /** The last forms of the items that follow, such as the output of a shell call. */
  readonly following?: readonly HostedItem[];
}

/** A completed turn of the model. */
export interface TurnInLedger {
  /** From 1. */
  readonly number: number;
  readonly usage: ModelUsage;
  /** What the model decided, so that the turn is not repeated; null for a turn stored by an earlier release. */
  readonly decision: TurnDecision | null;
}

/** All texts and calls of one turn. Plain JSON. */
export interface TurnDecision {
  readonly finish: TurnFinish;
  /** In the model's order. */
  readonly parts: readonly DecidedPart[];
}

/** Why a model ended its turn. */
export type TurnFinish = Extract<ModelEvent, { type: "finished" }>["reason"];

export type DecidedPart =
  /** An item that the model wrote completely: a message, reasoning, or a client call. `events` create it. */
  | { readonly type: "said"; readonly item: "message" | "reasoning" | "call"; readonly events: readonly ModelEvent[] }
  /** A call of one of this server's tools. */
  | DecidedCall;

export interface DecidedCall {
  readonly type: "call";
  /** Null if its item begins only when it runs, or if it has no item. */
  readonly itemId: string | null;
  readonly callId: string;
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
  /** What the model gets instead of a result if the call is not run; null if it is run. */
  readonly refusal: string | null;
}

/** A call that has started. `result` is null until the call has ended. */
export interface KnownExchange extends BegunExchange {
  readonly result: FinishedExchange | null;
  /** What a person has found out about an unknown outcome; absent if nobody has. */
  readonly settledAs?: SettledState;
}

/** The approval has already been used by another call. */
export class ApprovalSpent extends Error {
  override readonly name = "ApprovalSpent";
}

/** The calls of hosted functions, exactly as the model made and saw them. Deleted together with their items. */
export interface ToolLedger {
  /**
   * Resolves once stored, before the call runs. A call that may run again may start again under the same item, with its
   * attempts so far. Rejects with `RunLost` if another worker has the run, and with `ApprovalSpent`.
   */
  begin(owner: Owner, responseId: string, exchange: BegunExchange): Promise<void>;
  /** Resolves once stored with all attempts, before the end of the item is shown. Rejects like `begin`. */
  finish(owner: Owner, responseId: string, result: FinishedExchange, attempts: readonly CallAttempt[]): Promise<void>;
  /** Stores the usage of a turn. Resolves once stored. Rejects like `begin`. */
  endTurn(owner: Owner, responseId: string, turn: TurnInLedger): Promise<void>;
  /** The completed turns of this response, oldest first. */
  turnsOf(owner: Owner, responseId: string): Promise<readonly TurnInLedger[]>;
  /** The calls behind these items. Unknown ids and ids of other owners are absent. */
  find(owner: Owner, itemIds: readonly string[]): Promise<ReadonlyMap<string, KnownExchange>>;
  /** All calls that this response has started, in no order. */
  listOf(owner: Owner, responseId: string): Promise<readonly KnownExchange[]>;
  /**
   * Marks an approval as used by a response that is not stored; does nothing if the approval request is not stored
   * either. Resolves once stored. Rejects with `ApprovalSpent`.
   */
  spend(owner: Owner, responseId: string, approvalRequestId: string): Promise<void>;
  /** Returns which of these approvals were used. */
  findSpent(owner: Owner, approvalRequestIds: readonly string[]): Promise<ReadonlySet<string>>;
}
