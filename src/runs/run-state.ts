import type { OutputItem, Response, ResponseErrorInfo } from "../../generated/responses-api/types.ts";
import type { IdStem } from "../base/ids.ts";
import type { CallBlock } from "./blocks/call-block.ts";
import type { MessageBlock } from "./blocks/message-block.ts";
import type { ReasoningBlock } from "./blocks/reasoning-block.ts";
import type { ModelEvent, ModelUsage } from "./ports.ts";

/** What is fixed when a run begins. */
export interface RunPlan {
  /**
   * The snapshot of `response.created`: status `in_progress` or, in the background, `queued`; every echo filled in, no
   * output, no usage.
   */
  readonly response: Response;
  readonly ids: IdStem;
  /** How raw reasoning is shown: as `reasoning_text` content, or, when a summary was asked for, as that. */
  readonly rawReasoningAs: "text" | "summary";
  /** Seals reasoning into `encrypted_content`, deterministically; null when the request did not ask for it. */
  readonly sealReasoning: ((text: string, itemId: string) => string) | null;
  /** Stands in where the model server counts no tokens. */
  readonly inputTokensEstimate: number;
  /**
   * True: nothing is to be answered, and the output stays empty. Absent: an answer without a word is a message without
   * one.
   */
  readonly isWarmUp?: boolean;
}

export interface Answering {
  readonly phase: "answering";
  readonly plan: RunPlan;
  /** The block that deltas go to; the item at `output.length`. */
  readonly open: OpenBlock | null;
  readonly output: readonly OutputItem[];
  readonly usage: ModelUsage | null;
  readonly finish: FinishReason | null;
  readonly model: string;
  /** Whether sound was begun and not ended. */
  readonly isSounding: boolean;
  /** Characters of output so far, for estimates where the model server counts no tokens. */
  readonly characters: number;
}

/** A run whose model has not been asked, or has not accepted yet. */
export interface Beginning {
  readonly phase: "waiting" | "queued";
  readonly plan: RunPlan;
}

export type RunState = Beginning | Answering | { readonly phase: "ended"; readonly response: Response };

export type OpenBlock = MessageBlock | ReasoningBlock | CallBlock;

export type FinishReason = Extract<ModelEvent, { type: "finished" }>["reason"];

export interface RunFailure {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** What the failed response says, out of the reference's closed list. */
  readonly responseCode: ResponseErrorInfo["code"];
}

/** Everything that can happen to a run. `at` is in Unix seconds. */
export type RunSignal =
  /** The run waits for its turn; only background runs do, and it is the first thing that happens to them. */
  | { readonly type: "queued" }
  | { readonly type: "accepted" }
  | { readonly type: "model"; readonly event: ModelEvent }
  | { readonly type: "model_ended"; readonly at: number }
  | { readonly type: "model_failed"; readonly failure: RunFailure }
  | { readonly type: "cancelled" };
