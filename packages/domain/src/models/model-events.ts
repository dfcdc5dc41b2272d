import type { Annotation, LogProb, Response } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItemEvent } from "./hosted.ts";

/** Token counts of one turn. `inputTokens` includes cached tokens, `outputTokens` includes reasoning tokens. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** True if the model server has not counted a turn. */
  readonly isEstimate?: true;
}

/**
 * One piece of a model's answer, independent of its vendor. Strictly sequential: an adapter separates interleaved
 * calls, so that a block ends before the next begins. Text after a call opens a new message; `call_delta` belongs to
 * the latest `call_started`.
 */
export type ModelEvent =
  /** `answerId` is the model server's id of this answer, if it sends one. */
  | { readonly type: "model_resolved"; readonly model: string; readonly answerId?: string }
  /** Begins a new message, even directly after another one. Without this event, the first text begins the message. */
  | { readonly type: "message_started"; readonly phase?: "commentary" | "final_answer" }
  /** Ends the open message or reasoning, if any. Without this event, it ends when another item begins. */
  | { readonly type: "message_finished" }
  | {
      readonly type: "text_delta";
      readonly text: string;
      readonly logprobs?: readonly LogProb[];
      /** True for a citation that this server wrote: voices do not read it aloud. */
      readonly isCitation?: boolean;
    }
  | { readonly type: "annotation"; readonly annotation: Annotation }
  | { readonly type: "refusal_delta"; readonly text: string }
  /** Raw reasoning, as open-weight models send it. */
  | { readonly type: "reasoning_delta"; readonly text: string }
  | { readonly type: "reasoning_summary_delta"; readonly text: string }
  /** The next summary delta begins a new summary part. */
  | { readonly type: "reasoning_summary_break" }
  /**
   * The open reasoning in a form that only its model server reads, as the engine wrote it; begins reasoning if none is
   * open. A later turn gets it as the `encrypted_content` of the item. Empty: only begins.
   */
  | { readonly type: "reasoning_sealed"; readonly sealedText: string }
  /** If `callId` is null, the run generates one. The deltas of a `custom` call are free-form input, not JSON. */
  | {
      readonly type: "call_started";
      readonly kind: "function" | "custom" | "hosted";
      readonly callId: string | null;
      readonly name: string;
      /** For a hosted function: its server. */
      readonly namespace?: string;
      /** The call id of the program that makes the call; absent for the model's own calls. */
      readonly callerId?: string;
    }
  | { readonly type: "call_delta"; readonly text: string }
  /** `isCut`: the answer broke off within the call, which is then incomplete. */
  | { readonly type: "call_finished"; readonly isCut?: boolean }
  /** A tool search for the client, as one complete item. If `callId` is null, the run generates one. */
  | {
      readonly type: "tool_search";
      readonly callId: string | null;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly isCut?: boolean;
    }
  | HostedItemEvent
  /** The usage of hosted tools so far. */
  | { readonly type: "tool_usage"; readonly usage: Response["tool_usage"] }
  /** The turn broke off and is retried. Ends the open item: a message or a call as incomplete, reasoning as it is. */
  | { readonly type: "turn_cut" }
  /** A summary of the conversation so far, sealed for its owner, as one complete item. */
  | { readonly type: "compaction"; readonly encryptedContent: string }
  /** A piece of the spoken answer, in base64. It belongs to no item. Only this server's own voices create it. */
  | { readonly type: "audio_delta"; readonly audio: string }
  /** The words whose sound begins with the next `audio_delta`. */
  | { readonly type: "audio_transcript_delta"; readonly text: string }
  /** The sound is complete. */
  | { readonly type: "audio_done" }
  /** `contextTokens`: the tokens of the last turn, its answer included, if the answer took several turns. */
  | { readonly type: "usage"; readonly usage: ModelUsage; readonly contextTokens?: number }
  /** The stop sequence at which the answer ends. It is not part of the text. */
  | { readonly type: "stop_sequence"; readonly sequence: string }
  /** `steered`: the client has added input, which the response that follows takes. Models never send it. */
  | { readonly type: "finished"; readonly reason: "stop" | "length" | "content_filter" | "steered" };
