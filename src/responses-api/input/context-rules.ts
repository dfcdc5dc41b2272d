import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { duplicateItem, reasoningWithoutFollower, toolCallMissing, toolOutputMissing } from "../errors/state-errors.ts";

/** Refuses what no model can make sense of: `input` comes from this request, `context` is all that the model is shown. */
export function checkContext(input: readonly StoredItem[], context: readonly StoredItem[]): void {
  checkIdsOnce(input);
  checkReasoning(input);
  checkCalls(context);
}

/** `list` is the member the items came in. */
export function checkIdsOnce(items: readonly StoredItem[], list = "input"): void {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (seen.has(id)) throw duplicateItem(id, list);
    seen.add(id);
  }
}

/** A conversation holds an item once. */
export function checkNotRepeated(conversation: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sent = new Set(input.map(({ id }) => id));
  const repeated = conversation.find(({ id }) => sent.has(id));
  if (repeated !== undefined) throw duplicateItem(repeated.id);
}

/** A reasoning item belongs to what it led to: both are sent, or neither. */
function checkReasoning(input: readonly StoredItem[]): void {
  for (const [index, item] of input.entries()) {
    if (item.type === "reasoning" && !isMadeByModel(input[index + 1])) throw reasoningWithoutFollower(item.id);
  }
}

function isMadeByModel(item: StoredItem | undefined): boolean {
  if (item === undefined) return false;
  return item.type === "message" ? item.role === "assistant" : !item.type.endsWith("_output");
}

const OUTPUT_OF = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
} as const;

/** Each call has its output and each output its call. */
function checkCalls(items: readonly StoredItem[]): void {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const item of items) {
    if (item.type === "function_call" || item.type === "custom_tool_call")
      called.add(`${OUTPUT_OF[item.type]} ${item.call_id}`);
    if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      const key = `${item.type} ${item.call_id}`;
      if (!called.has(key)) throw toolCallMissing(item.call_id);
      answered.add(key);
    }
  }
  for (const key of called) {
    if (!answered.has(key)) throw toolOutputMissing(key.slice(key.indexOf(" ") + 1));
  }
}
