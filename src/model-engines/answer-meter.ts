import { assertNever } from "../base/assert.ts";
import type { ModelEvent } from "../runs/ports.ts";

/** How much one answer may hold. */
export interface AnswerLimits {
  /** Text and refusals. */
  readonly textCharactersMax: number;
  /** Raw reasoning and summaries. */
  readonly reasoningCharactersMax: number;
  /** Of all calls together. */
  readonly argumentsCharactersMax: number;
  readonly callsMax: number;
  /** Items, and parts of items. */
  readonly itemsMax: number;
  readonly annotationsMax: number;
  /** Alternatives included. */
  readonly logprobsMax: number;
}

type Delta = Extract<ModelEvent, { readonly text: string }>;
/** What may grow without end. */
type Amount = "text" | "reasoning" | "arguments" | "calls" | "items" | "annotations" | "logprobs";

/** What is being written. Another kind begins a further item, or part of one. */
type Part = "text" | "refusal" | "reasoning" | "other";

/** Counts what an answer holds, and finds where it has to end. */
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

  /** The event as far as it fits: the whole of it, a beginning of its text, or null. */
  fit(event: ModelEvent): ModelEvent | null {
    switch (event.type) {
      case "text_delta":
        return this.#continue("text") && this.#takeLogprobs(event) ? this.#takeText("text", event) : null;
      case "refusal_delta":
        return this.#continue("refusal") ? this.#takeText("text", event) : null;
      case "reasoning_delta":
      case "reasoning_summary_delta":
        return this.#continue("reasoning") ? this.#takeText("reasoning", event) : null;
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
      case "message_finished":
        this.#open = null;
        return event;
      // What a turn says once, and sound, which no model server sends.
      case "call_finished":
      case "audio_delta":
      case "audio_transcript_delta":
      case "audio_done":
      case "model_resolved":
      case "usage":
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

/** At most so many characters from the start, and no half of a surrogate pair. */
export function beginningOf(text: string, charactersMax: number): string {
  const last = text.charCodeAt(charactersMax - 1);
  const isHalf = charactersMax < text.length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? charactersMax - 1 : charactersMax);
}
