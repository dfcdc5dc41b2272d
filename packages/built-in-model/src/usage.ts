import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { isMessage, isToolOutput, outputText } from "./conversation.ts";
import { isDelta, type Step } from "./step.ts";
import { countTokens } from "./tokens.ts";

/** Tokens of an image, a file or a recording of any size; the engine does not read them. */
const ATTACHMENT_TOKENS = 85;

/** The usage of an answer. Nothing is cached, and each delta is one output token. */
export function usageEvent(request: ModelRequest, steps: readonly Step[]): ModelEvent {
  const deltas = steps.filter(isDelta);
  return {
    type: "usage",
    usage: {
      inputTokens: countInputTokens(request),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: deltas.length,
      reasoningTokens: deltas.filter(({ type }) => type.startsWith("reasoning_")).length,
    },
  };
}

/** Input tokens by the engine's own rule. The count is exact: answers report the same number. */
export function countInputTokens(request: ModelRequest): number {
  const tools = request.tools.length === 0 ? "" : JSON.stringify(request.tools);
  const items = request.items.reduce((sum, item) => sum + countItemTokens(item), 0);
  return countTokens(request.instructions ?? "") + countTokens(tools) + items;
}

function countItemTokens(item: ContextItem): number {
  if (isMessage(item)) {
    if (typeof item.content === "string") return countTokens(item.content);
    return item.content.reduce((sum, part) => sum + ("text" in part ? countTokens(part.text) : ATTACHMENT_TOKENS), 0);
  }
  if (isToolOutput(item)) return countTokens(outputText(item));
  if (item.type === "function_call" || item.type === "hosted_call")
    return countTokens(item.name) + countTokens(item.arguments);
  if (item.type === "custom_tool_call") return countTokens(item.name) + countTokens(item.input);
  return countTokens(JSON.stringify(item));
}
