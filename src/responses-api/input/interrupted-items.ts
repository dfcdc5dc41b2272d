import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";

/**
 * The context without interrupted items that the model then wrote again: messages and client calls that are incomplete
 * and are followed by more of the same answer. A call that the client has answered anyway stays. Returns the same list
 * if nothing is left out.
 */
export function withoutInterrupted(context: readonly StoredItem[]): readonly StoredItem[] {
  const isLeftOut = (item: StoredItem, place: number): boolean =>
    isIncomplete(item) && isFollowedByAnswer(context, place) && !isAnswered(context, item);
  return context.some(isLeftOut) ? context.filter((item, place) => !isLeftOut(item, place)) : context;
}

type BegunItem = Extract<StoredItem, { type: "message" | "function_call" | "custom_tool_call" }>;

function isIncomplete(item: StoredItem): item is BegunItem {
  if (item.type === "message") return item.role === "assistant" && item.status === "incomplete";
  return (item.type === "function_call" || item.type === "custom_tool_call") && item.status === "incomplete";
}

/** Whether the next item is the model's, too. */
function isFollowedByAnswer(context: readonly StoredItem[], place: number): boolean {
  const next = context[place + 1];
  if (next === undefined) return false;
  if (next.type === "message") return next.role === "assistant";
  return next.type === "reasoning" || next.type.endsWith("_call");
}

function isAnswered(context: readonly StoredItem[], item: BegunItem): boolean {
  if (item.type === "message") return false;
  return context.some(
    (other) =>
      (other.type === "function_call_output" || other.type === "custom_tool_call_output") &&
      other.call_id === item.call_id,
  );
}
