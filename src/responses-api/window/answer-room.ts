import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";

/** Tokens reserved for the answer if the request sets no maximum. The share of the window caps either number. */
const ANSWER_TOKENS = 1024;
const ANSWER_SHARE_MAX = 0.25;

/** The tokens that a model's window has for the input of this request. */
export function inputRoom({ maxOutputTokens }: Pick<ModelRequest, "maxOutputTokens">, window: number): number {
  return window - Math.min(maxOutputTokens ?? ANSWER_TOKENS, Math.floor(window * ANSWER_SHARE_MAX));
}
