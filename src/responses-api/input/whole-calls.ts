import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";
import type { ConversationItems } from "../ports.ts";

/**
 * The items of a conversation without the halves of calls whose other half a client has deleted: a call without its
 * output, or an output without its call, would be refused for ever. A call whose output comes with `input` stays.
 */
export function wholeCalls(
  { items, splitCalls }: ConversationItems,
  input: CreateResponseRequest["input"],
): readonly StoredItem[] {
  if (splitCalls.size === 0) return items;
  const outputs = new Set(items.filter(isOutput).map(callIdOf));
  for (const item of Array.isArray(input) ? input : []) if (isOutput(item)) outputs.add(callIdOf(item));
  const calls = new Set(items.filter((item) => !isOutput(item)).map(callIdOf));
  return items.filter((item) => {
    const callId = callIdOf(item);
    if (callId === null || !splitCalls.has(callId)) return true;
    return (isOutput(item) ? calls : outputs).has(callId);
  });
}

type AnyItem = StoredItem | Exclude<NonNullable<CreateResponseRequest["input"]>, string>[number];

function isOutput({ type }: AnyItem): boolean {
  return type != null && (type.endsWith("_output") || type === "tool_result");
}

function callIdOf(item: AnyItem): string | null {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}
