import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { answeredBy, type CompactedContext, handleOf, isToolCall, type OpenCall } from "./compacted-context.ts";

type Compaction = Extract<StoredItem, { type: "compaction" }>;
type Message = Extract<StoredItem, { type: "message" }>;

/**
 * The summary of the latest compaction, and the items after it. Of the items before it, calls stay if their outputs
 * come after it, and user messages since the previous compaction stay if the compaction keeps them. Without a
 * compaction, all items stay.
 */
export function beginAtCompaction(
  items: readonly StoredItem[],
  open: (sealedText: string) => CompactedContext,
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

/** The items after the latest compaction; all items if there is none. */
export function sinceCompaction(items: readonly StoredItem[]): readonly StoredItem[] {
  return items.slice(items.findLastIndex(isCompaction) + 1);
}

export function isUserMessage(item: StoredItem): item is Message {
  return item.type === "message" && item.role === "user";
}

/** Whether this item is the message that shows a summary to the model. */
export function isSummary({
  id,
  type,
}: {
  readonly id?: string | null | undefined;
  readonly type?: string | null | undefined;
}): boolean {
  return type === "message" && id?.startsWith(SUMMARY_PREFIX) === true;
}

/** Contains a colon, so no client's id can begin with it. */
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

function answeredLater(calls: readonly OpenCall[], after: readonly StoredItem[]): readonly OpenCall[] {
  const answeredHandles = new Set(after.map(answeredBy));
  const callHandles = new Set(after.filter(isToolCall).map(handleOf));
  const unique = new Map(calls.map((call) => [handleOf(call), call]));
  return [...unique]
    .filter(([handle]) => answeredHandles.has(handle) && !callHandles.has(handle))
    .map(([, call]) => call);
}

function isCompaction(item: StoredItem): item is Compaction {
  return item.type === "compaction";
}
