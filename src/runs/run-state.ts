import type { IdStem } from "@antiphon/base/ids.ts";
import type {
  OutputItem,
  Response,
  ResponseErrorInfo,
  ResponseNote,
  Usage,
} from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { CallBlock } from "./blocks/call-block.ts";
import type { HostedBlock } from "./blocks/hosted-block.ts";
import type { MessageBlock } from "./blocks/message-block.ts";
import type { ReasoningBlock } from "./blocks/reasoning-block.ts";

/** The immutable facts about a run. */
export interface RunPlan {
  /**
   * The snapshot of `response.created`: status `in_progress`, or `queued` in the background; all echoed settings, no
   * output, no usage.
   */
  readonly response: Response;
  readonly ids: IdStem;
  /** Raw reasoning is shown as `reasoning_text` content, or as the summary if the request asked for one. */
  readonly rawReasoningAs: "text" | "summary";
  /**
   * Seals reasoning into `encrypted_content`, deterministically; null if it is not sealed. `sealedText`: the form that
   * only the model server reads, if it sent one.
   */
  readonly sealReasoning: ((text: string, itemId: string, sealedText: string | null) => string) | null;
  /** The input tokens of `usage` if the model server counts none. */
  readonly inputTokensEstimate: number;
  /** True if no answer is wanted; the output then stays empty. Otherwise, an empty answer becomes an empty message. */
  readonly isWarmUp?: boolean;
}

export interface Answering {
  readonly phase: "answering";
  readonly plan: RunPlan;
  /** The unfinished item that deltas go to. Its index is `output.length`. */
  readonly open: OpenBlock | null;
  readonly output: readonly OutputItem[];
  readonly usage: ModelUsage | null;
  /** The usage of hosted tools; null if none was reported. */
  readonly toolUsage: Response["tool_usage"] | null;
  readonly finish: FinishReason | null;
  /** The stop sequence at which the answer ends. */
  readonly stopSequence: string | null;
  readonly model: string;
  /** Whether sound has begun and not ended. */
  readonly isSoundOpen: boolean;
  /** Characters of output so far, for the length limit and for token estimates. */
  readonly characters: number;
}

/** A run whose model has not accepted yet. */
export interface Unaccepted {
  readonly phase: "waiting" | "queued";
  readonly plan: RunPlan;
}

export interface Ended {
  readonly phase: "ended";
  readonly response: Response;
  /** Notes that are only known at the end. */
  readonly notes: readonly ResponseNote[];
  /** What the run used, also if its response does not say so; null if its model said nothing. */
  readonly usage: Usage | null;
}

export type RunState = Unaccepted | Answering | Ended;

export type OpenBlock = MessageBlock | ReasoningBlock | CallBlock | HostedBlock;

export type FinishReason = Extract<ModelEvent, { type: "finished" }>["reason"];

export interface RunFailure {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** The code in the failed response, from the reference's closed list. */
  readonly responseCode: ResponseErrorInfo["code"];
}

/** The signals of a run. `at` is in Unix seconds. */
export type RunSignal =
  /** The run waits in the queue. This is the first signal of every background run; foreground runs never get it. */
  | { readonly type: "queued" }
  | { readonly type: "accepted" }
  | { readonly type: "model"; readonly event: ModelEvent }
  | { readonly type: "model_ended"; readonly at: number }
  | { readonly type: "model_failed"; readonly failure: RunFailure }
  | { readonly type: "cancelled" }
  /**
   * Only in a restored run: the event before the `output_item.done` of the open item was sent, such as
   * `response.mcp_call.completed`.
   */
  | { readonly type: "item_end_shown"; readonly hasFailed: boolean };
