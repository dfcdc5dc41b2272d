import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { splitTokens } from "./tokens.ts";

/**
 * What the engine does next: emit an event, wait, or fail. Both the rules and scenario files produce a list of steps.
 */
export type Step = ModelEvent | Pause | Failure;

export interface Pause {
  readonly type: "pause";
  readonly ms: number;
}

export interface Failure {
  readonly type: "failure";
  readonly error: ModelError;
}

type DeltaEvent = Extract<ModelEvent, { text: string }>;
type TextDelta = Extract<ModelEvent, { type: "text_delta" }>;

/** The longest answer in tokens; texts are not split any further. */
export const OUTPUT_TOKENS_MAX = 16_384;
const CHOSEN_LOGPROB = -0.1;
/** Each alternative is less likely than the one before. All probabilities sum to less than 1. */
const ALTERNATIVE_LOGPROB = -2.4;
const ALTERNATIVE_STEP = -0.7;
const OTHER_TOKENS =
  " the, a, and, of, to, in, is, it, that, for, on, with, as, was, at, by, an, be, this, or, from, are".split(",");

/** Each delta is one token for limits, delays and usage. */
export function isDelta(step: Step): step is DeltaEvent {
  return "text" in step;
}

/** A text as one delta of the given type per token. */
export function sayDeltas(type: Exclude<DeltaEvent["type"], "text_delta">, text: string): ModelEvent[] {
  return splitTokens(text, OUTPUT_TOKENS_MAX + 1).map((token) => ({ type, text: token }));
}

/** A text as one delta per token. `topLogprobs` null means no log probabilities. */
export function sayText(text: string, topLogprobs: number | null): ModelEvent[] {
  return splitTokens(text, OUTPUT_TOKENS_MAX + 1).map((token) => textDelta(token, topLogprobs));
}

/** Log probabilities are made up, and always the same. The chosen token is the first of the alternatives. */
export function textDelta(token: string, topLogprobs: number | null): TextDelta {
  if (topLogprobs === null) return { type: "text_delta", text: token };
  const ranked = [token, ...OTHER_TOKENS.filter((other) => other !== token)].slice(0, topLogprobs).map((one, rank) => ({
    token: one,
    logprob: rank === 0 ? CHOSEN_LOGPROB : Math.round((ALTERNATIVE_LOGPROB + rank * ALTERNATIVE_STEP) * 10) / 10,
    bytes: utf8(one),
  }));
  const logprobs = [{ token, bytes: utf8(token), logprob: CHOSEN_LOGPROB, top_logprobs: ranked }];
  return { type: "text_delta", text: token, logprobs };
}

function utf8(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}
