import type {
  CreateChatCompletionRequest,
  CreateCompletionRequest,
} from "@antiphon/contracts/chat-completions/types.ts";
import { unsupportedParameter } from "../../responses-api/errors/parameter-errors.ts";

/** The most tokens of a text if the request does not say. */
const TOKENS_DEFAULT = 16;
const CHOICES_MAX = 8;

/** One text to make. */
export interface TextWish {
  readonly prompt: string;
  /** The chat completion that makes it. */
  readonly chat: CreateChatCompletionRequest;
}

/** The texts that a request asks for, in the order of their choices. Throws an `ApiError` for what no chat can do. */
export function textWishes(body: CreateCompletionRequest): TextWish[] {
  const { prompt, best_of: best, logprobs, suffix, echo: _echo, n, ...others } = body;
  const count = n ?? 1;
  const prompts = typeof prompt === "string" ? [prompt] : (prompt ?? [""]);
  if (logprobs != null) throw unsupportedParameter("logprobs", "POST /v1/chat/completions has them");
  if (suffix != null && suffix !== "") throw unsupportedParameter("suffix", "texts are only continued");
  if (best != null && best !== count) throw unsupportedParameter("best_of", "ask for n texts, and choose");
  if (prompts.length * count > CHOICES_MAX)
    throw unsupportedParameter("n", `at most ${CHOICES_MAX} texts for all prompts together`);
  return prompts.flatMap((text) => {
    const messages = [{ role: "user" as const, content: text }];
    const wish = { prompt: text, chat: { ...others, messages, max_tokens: body.max_tokens ?? TOKENS_DEFAULT } };
    return Array.from({ length: count }, () => wish);
  });
}
