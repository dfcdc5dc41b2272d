import { assertNever } from "@antiphon/base/assert.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

/** Limits of one answer. Characters are UTF-16 code units. */
export interface AnswerLimits {
  /** Answer text and refusals together. */
  readonly textCharactersMax: number;
  /** Raw reasoning and summaries together. */
  readonly reasoningCharactersMax: number;
  /** The arguments of all calls together. */
  readonly argumentsCharactersMax: number;
  readonly callsMax: number;
  /** Output items and their parts together. */
  readonly itemsMax: number;
  readonly annotationsMax: number;
  /** Log probabilities, including those of alternatives. */
  readonly logprobsMax: number;
}

type Delta = Extract<ModelEvent, { readonly text: string }>;
/** The limited amounts. */
type Amount = "text" | "reasoning" | "arguments" | "calls" | "items" | "annotations" | "logprobs";

/** The part being written. A change of kind begins a new item or a new part. */
type Part = "text" | "refusal" | "reasoning" | "other";

/** Counts the content of an answer and detects reached limits. */
export class AnswerMeter {
  readonly #room: Record<Amount, number>;
  #open: Part | null = null;

  constructor(limits: AnswerLimits) {
    this.#room = {
      text: limits.textCharactersMax,
      reasoning: limits.reasoningCharactersMax,
      arguments: limits.argumentsCharactersMax,
      calls: limits.callsMax,
      items: limits.itemsMax,
      annotations: limits.annotationsMax,
      logprobs: limits.logprobsMax,
    };
  }

  /** The fitting part of the event: the event itself, an event with the beginning of its text, or null. */
  fit(event: ModelEvent): ModelEvent | null {
    switch (event.type) {
      case "text_delta":
        return this.#continue("text") && this.#takeLogprobs(event) ? this.#takeText("text", event) : null;
      case "refusal_delta":
        return this.#continue("refusal") ? this.#takeText("text", event) : null;
      case "reasoning_delta":
      case "reasoning_summary_delta":
        return this.#continue("reasoning") ? this.#takeText("reasoning", event) : null;
      case "reasoning_sealed":
        return this.#continue("reasoning") && this.#take("reasoning", event.sealedText.length) ? event : null;
      case "call_delta":
        return this.#takeText("arguments", event);
      case "annotation":
        return this.#continue("text") && this.#take("annotations", 1) ? event : null;
      case "message_started":
        return this.#begin("text") ? event : null;
      case "reasoning_summary_break":
        return this.#begin("reasoning") ? event : null;
      case "call_started":
      case "tool_search":
        return this.#begin("other") && this.#take("calls", 1) ? event : null;
      case "compaction":
        return this.#begin("other") ? event : null;
      case "turn_cut":
      case "message_finished":
        this.#open = null;
        return event;
      // Events that occur once, and events of voices and tools, which model servers do not send.
      case "item_started":
      case "item_delta":
      case "item_written":
      case "item_step":
      case "item_finished":
      case "tool_usage":
      case "call_finished":
      case "audio_delta":
      case "audio_transcript_delta":
      case "audio_done":
      case "model_resolved":
      case "usage":
      case "stop_sequence":
      case "finished":
        return event;
      default:
        return assertNever(event);
    }
  }

  #continue(part: Part): boolean {
    return part === this.#open || this.#begin(part);
  }

  #begin(part: Part): boolean {
    this.#open = part;
    return this.#take("items", 1);
  }

  #takeLogprobs({ logprobs }: Extract<ModelEvent, { type: "text_delta" }>): boolean {
    if (logprobs === undefined) return true;
    const count = logprobs.reduce((sum, { top_logprobs }) => sum + 1 + top_logprobs.length, 0);
    return count === 0 || this.#take("logprobs", count);
  }

  #takeText(amount: Amount, event: Delta): ModelEvent | null {
    const room = this.#room[amount];
    if (this.#take(amount, event.text.length)) return event;
    this.#room[amount] = 0;
    const text = beginningOf(event.text, room);
    return text === "" ? null : { ...event, text };
  }

  #take(amount: Amount, count: number): boolean {
    if (count > this.#room[amount]) return false;
    this.#room[amount] -= count;
    return true;
  }
}

/** The first characters of a text, at most `charactersMax`, without half a surrogate pair at the end. */
export function beginningOf(text: string, charactersMax: number): string {
  const last = text.charCodeAt(charactersMax - 1);
  const isHalf = charactersMax < text.length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? charactersMax - 1 : charactersMax);
}
