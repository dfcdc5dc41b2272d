import type { ModelEvent } from "../../runs/ports/model-events.ts";
import { logProbOf } from "./logprobs.ts";
import type { DeltaEvent } from "./step.ts";
import { splitTokens } from "./tokens.ts";

/** The longest answer in tokens; texts are not split any further. */
export const OUTPUT_TOKENS_MAX = 16_384;
const PIECES_MAX = OUTPUT_TOKENS_MAX + 1;

/** A text as one delta per token. `topLogprobs` null means no log probabilities. */
export function sayText(text: string, topLogprobs: number | null): ModelEvent[] {
  return splitTokens(text, PIECES_MAX).map((token) => textDelta(token, topLogprobs));
}

export function textDelta(text: string, topLogprobs: number | null): ModelEvent {
  if (topLogprobs === null) return { type: "text_delta", text };
  return { type: "text_delta", text, logprobs: [logProbOf(text, topLogprobs)] };
}

/** A text as one delta of the given type per token. */
export function sayDeltas(type: Exclude<DeltaEvent["type"], "text_delta">, text: string): ModelEvent[] {
  return splitTokens(text, PIECES_MAX).map((token) => ({ type, text: token }));
}
