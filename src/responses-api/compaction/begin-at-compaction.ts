import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { type CompactedContext, isToolCall, type ToolCall } from "./compacted-context.ts";

type Compaction = Extract<StoredItem, { type: "compaction" }>;
type Message = Extract<StoredItem, { type: "message" }>;

/**
 * The context that counts: the latest compaction, opened, and what came after it. Of what came before, the user's
 * messages since the compaction before it stay if the compaction says so, and calls stay whose outputs come after it.
 * Without a compaction, everything.
 */
export function beginAtCompaction(
  items: readonly StoredItem[],
  open: (sealed: string) => CompactedContext,
): readonly StoredItem[] {
  const at = items.findLastIndex(isCompaction);
  const compaction = items[at];
  if (compaction === undefined || !isCompaction(compaction)) return items;
  const { summary, keeps, calls } = open(compaction.encrypted_content);
  const before = sinceCompaction(items.slice(0, at));
  const after = items.slice(at + 1);
  return [
    ...(keeps === "user_messages" ? before.filter(isUserMessage) : []),
    summaryMessage(compaction.id, summary),
    ...answeredLater([...calls, ...before.filter(isToolCall)], after),
    ...after,
  ];
}

/** What came after the latest compaction; everything if there is none. */
export function sinceCompaction(items: readonly StoredItem[]): readonly StoredItem[] {
  return items.slice(items.findLastIndex(isCompaction) + 1);
}

export function isUserMessage(item: StoredItem): item is Message {
  return item.type === "message" && item.role === "user";
}

/** Whether this item is the message that a summary is shown as. */
export function isSummary({
  id,
  type,
}: {
  readonly id?: string | null | undefined;
  readonly type?: string | null | undefined;
}): boolean {
  return type === "message" && id?.startsWith(SUMMARY_PREFIX) === true;
}

/** No message that a client sends can have this beginning: ids hold letters, digits, dashes and underscores. */
const SUMMARY_PREFIX = "summary:";
const PREFACE =
  "The conversation so far was shortened. This summary stands in place of what was removed; go on from it, and do not mention it unless asked:";

function summaryMessage(id: string, summary: string): StoredItem {
  return {
    id: `${SUMMARY_PREFIX}${id}`,
    type: "message",
    role: "user",
    status: "completed",
    content: [{ type: "input_text", text: `${PREFACE}\n\n${summary}` }],
  };
}

function answeredLater(calls: readonly ToolCall[], after: readonly StoredItem[]): readonly ToolCall[] {
  const answered = new Set(after.flatMap((item) => (item.type.endsWith("_output") ? callIdsOf(item) : [])));
  const made = new Set(after.filter(isToolCall).map((call) => call.call_id));
  const unique = new Map(calls.map((call) => [call.call_id, call]));
  return [...unique.values()].filter(({ call_id: id }) => answered.has(id) && !made.has(id));
}

function callIdsOf(item: StoredItem): readonly string[] {
  return "call_id" in item && typeof item.call_id === "string" ? [item.call_id] : [];
}

function isCompaction(item: StoredItem): item is Compaction {
  return item.type === "compaction";
}
