import { isMembers, listAt, type Members, membersAt, numberAt, textAt } from "../base/members.ts";

/** An item as it is shown: as on the wire, with what has come of it so far. */
export interface ShownItem extends Members {
  readonly type: string;
}

/** Reads an item of the wire; null if it is none. */
export function asShownItem(value: unknown): ShownItem | null {
  if (!isMembers(value)) return null;
  const type = value["type"];
  if (typeof type === "string") return { ...value, type };
  return typeof value["role"] === "string" ? { ...value, type: "message" } : null;
}

type Draft = Record<string, unknown>;

/** The events whose delta belongs to a text of the item itself, and the member that holds it. */
const ITEM_TEXTS: Readonly<Record<string, string>> = {
  "response.function_call_arguments.delta": "arguments",
  "response.mcp_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "input",
  "response.code_interpreter_call_code.delta": "code",
};

/** The events whose delta belongs to a part of a list of the item. */
const PART_TEXTS: Readonly<Record<string, { list: string; index: string; member: string; type: string }>> = {
  "response.output_text.delta": { list: "content", index: "content_index", member: "text", type: "output_text" },
  "response.refusal.delta": { list: "content", index: "content_index", member: "refusal", type: "refusal" },
  "response.reasoning_text.delta": { list: "content", index: "content_index", member: "text", type: "reasoning_text" },
  "response.reasoning_summary_text.delta": {
    list: "summary",
    index: "summary_index",
    member: "text",
    type: "summary_text",
  },
};

/** The output items as they are after the first `count` events. */
export function foldEvents(events: readonly { readonly event: Members }[], count = events.length): ShownItem[] {
  const items = new Map<number, Draft>();
  for (let index = 0; index < count; index++) {
    const event = events[index]?.event;
    if (event !== undefined) foldEvent(items, event);
  }
  return [...items.entries()]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([, draft]) => asShownItem(draft) ?? []);
}

function foldEvent(items: Map<number, Draft>, event: Members): void {
  const type = textAt(event, "type");
  const place = numberAt(event, "output_index");
  if (place === null) {
    if (type === "response.completed" || type === "response.incomplete") foldLast(items, event);
    return;
  }
  if (type === "response.output_item.added" || type === "response.output_item.done") {
    items.set(place, structuredClone({ ...membersAt(event, "item") }));
    return;
  }
  const item = items.get(place);
  if (item === undefined) return;
  const delta = textAt(event, "delta");
  const itemText = ITEM_TEXTS[type];
  if (itemText !== undefined) item[itemText] = textAt(item, itemText) + delta;
  const partText = PART_TEXTS[type];
  if (partText === undefined) return;
  const part = partOf(item, partText.list, { at: numberAt(event, partText.index) ?? 0, type: partText.type });
  part[partText.member] = textAt(part, partText.member) + delta;
}

/** What is only in the last snapshot, for streams that were read in part. */
function foldLast(items: Map<number, Draft>, event: Members): void {
  if (items.size > 0) return;
  for (const [place, item] of listAt(event["response"], "output").entries())
    if (isMembers(item)) items.set(place, { ...item });
}

function partOf(item: Draft, list: string, { at, type }: { at: number; type: string }): Draft {
  const parts: unknown = item[list];
  const drafts: unknown[] = Array.isArray(parts) ? parts : [];
  item[list] = drafts;
  const part = drafts[at];
  if (isMembers(part)) {
    const draft: Draft = { ...part };
    drafts[at] = draft;
    return draft;
  }
  const draft: Draft = { type };
  drafts[at] = draft;
  return draft;
}
