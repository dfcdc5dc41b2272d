import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { isMessage, outputText } from "./conversation.ts";
import { isDelta, type Step } from "./step.ts";

/**
 * A word of up to 16 characters, a single sign, or `{}`, with the white space before it. The reference also streams
 * `{}` as one token.
 */
const TOKEN = /\s*(?:\{\}|[\p{L}\p{M}\p{N}_'’]{1,16}|[^\s\p{L}\p{M}\p{N}_'’])|\s+/gu;
/** Longer texts are counted up to here and estimated beyond, so that a huge input is cheap to count. */
const COUNTED_CHARS_MAX = 100_000;
const CHARS_PER_TOKEN = 4;
/** Tokens of an image, a file or a recording of any size; the engine does not read them. */
const ATTACHMENT_TOKENS = 85;

/** The first `max` tokens of a text. Without `max`, joining them gives the text again. */
export function splitTokens(text: string, max = Infinity): string[] {
  return Array.from(text.matchAll(TOKEN).take(max), ([token]) => token);
}

/** The text on one line, cut to at most `charsMax` code points. */
export function shorten(text: string, charsMax: number): string {
  // Leaves room for surrogate pairs and white space, without reading all of a huge text.
  const start = text.slice(0, charsMax * 4);
  const characters = [...start.replaceAll(/\s+/g, " ").trim()];
  if (characters.length <= charsMax && start.length === text.length) return characters.join("");
  const kept = characters.slice(0, charsMax - 1).join("");
  return `${kept.trimEnd()}…`;
}

/** The usage of an answer. Nothing is cached, and each delta is one output token. */
export function usageEvent(request: ModelRequest, steps: readonly Step[]): ModelEvent {
  const deltas = steps.filter(isDelta);
  const reasoningTokens = deltas.filter(({ type }) => type.startsWith("reasoning_")).length;
  const input = { inputTokens: countInputTokens(request), cachedTokens: 0, cacheWriteTokens: 0 };
  return { type: "usage", usage: { ...input, outputTokens: deltas.length, reasoningTokens } };
}

/** Input tokens by the engine's own rule. The count is exact: answers report the same number. */
export function countInputTokens({ instructions, tools, items }: ModelRequest): number {
  const toolTokens = tools.length === 0 ? 0 : countTokens(JSON.stringify(tools));
  return countTokens(instructions ?? "") + toolTokens + items.reduce((sum, item) => sum + countItemTokens(item), 0);
}

function countItemTokens(item: ContextItem): number {
  if (isMessage(item)) {
    if (typeof item.content === "string") return countTokens(item.content);
    return item.content.reduce((sum, part) => sum + ("text" in part ? countTokens(part.text) : ATTACHMENT_TOKENS), 0);
  }
  if (item.type === "function_call" || item.type === "hosted_call")
    return countTokens(item.name) + countTokens(item.arguments);
  if (item.type === "custom_tool_call") return countTokens(item.name) + countTokens(item.input);
  return countTokens(outputText(item) ?? JSON.stringify(item));
}

/** Tokens of a text by the engine's own rule. */
export function countTokens(text: string): number {
  const rest = Math.max(0, text.length - COUNTED_CHARS_MAX);
  return splitTokens(text.slice(0, COUNTED_CHARS_MAX)).length + Math.ceil(rest / CHARS_PER_TOKEN);
}
