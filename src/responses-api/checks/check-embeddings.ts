import { isRecord } from "@antiphon/base/json/records.ts";
import type { CreateEmbeddingsRequest } from "@antiphon/contracts/responses-api/types.ts";
import { validateCreateEmbeddingsRequest } from "@antiphon/contracts/responses-api/validators.js";
import { emptyInput, tooManyEmbeddingTokens, tooManyInputs } from "../errors/embedding-errors.ts";
import { validationError } from "../errors/validation/validation-error.ts";

/** Source: OpenAI's API reference, Create embeddings. */
const INPUTS_MAX = 2048;
const TOKENS_MAX = 300_000;

/** Checks the body of a request for embeddings. Throws the reference's error for the first fault. */
export function checkEmbeddingsBody(body: unknown): CreateEmbeddingsRequest {
  const input = isRecord(body) ? body["input"] : null;
  checkSizes(input);
  if (!validateCreateEmbeddingsRequest(body)) throw validationError(validateCreateEmbeddingsRequest.errors ?? [], "");
  return body;
}

function checkSizes(input: unknown): void {
  if (input === "") throw emptyInput(null);
  if (!isList(input)) return;
  if (input.length === 0) throw emptyInput(null);
  if (input.length > INPUTS_MAX) throw tooManyInputs(input.length, INPUTS_MAX);
  const empty = input.findIndex((element) => element === "" || (isList(element) && element.length === 0));
  if (empty !== -1) throw emptyInput(empty);
  const tokens = input.reduce<number>((sum, element) => sum + tokensOf(element), 0);
  if (tokens > TOKENS_MAX) throw tooManyEmbeddingTokens(tokens, TOKENS_MAX);
}

/** Texts are counted by the model server. */
function tokensOf(element: unknown): number {
  if (typeof element === "number") return 1;
  return isList(element) ? element.length : 0;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
