import { ApiError } from "@antiphon/base/api-error.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { invalidRequest } from "./invalid-request.ts";
import { modelRefused } from "./model-errors.ts";

/** The reference's words, to which each error adds what is wrong. */
const INVALID_INPUT =
  "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.";

/** `index`: the place of the empty input among several; null if there is nothing else. */
export function emptyInput(index: number | null): ApiError {
  const what = index === null ? "It is empty" : `'input[${index}]' is empty`;
  return invalidRequest(400, null, null, `${INVALID_INPUT} ${what}.`);
}

export function tooManyInputs(count: number, max: number): ApiError {
  return invalidRequest(400, null, null, `${INVALID_INPUT} It holds ${count} inputs, and at most ${max} can be sent.`);
}

export function tooManyEmbeddingTokens(count: number, max: number): ApiError {
  return new ApiError({
    status: 400,
    type: "max_tokens_per_request",
    code: "max_tokens_per_request",
    message: `Requested ${count} tokens, max ${max} tokens per request`,
  });
}

/** The reply to a request for vectors or ranks that failed. A model that does not exist is 404, as at the reference. */
export function retrievalFailed(error: unknown): unknown {
  const refusal = error instanceof ModelError ? modelRefused(error) : error;
  if (!(refusal instanceof ApiError) || refusal.code !== "model_not_found") return refusal;
  const { type, code, param, message, quoted } = refusal;
  return new ApiError({ status: 404, type, code, param, message, quoted, cause: error });
}
