import type { StoredItem } from "../../../generated/responses-api/types.ts";

/**
 * Messages and reasoning that come again with an id and the words of an earlier one count once, where they were first:
 * clients send back what the chain holds already. Other words under the same id are something new.
 */
export function saidOnce(items: readonly StoredItem[]): readonly StoredItem[] {
  if (new Set(items.map(({ id }) => id)).size === items.length) return items;
  const said = new Map<string, Said>();
  return items.filter((item) => {
    if (item.type !== "message" && item.type !== "reasoning") return true;
    const earlier = said.get(item.id);
    if (earlier !== undefined && wordsOf(earlier) === wordsOf(item)) return false;
    said.set(item.id, item);
    return true;
  });
}

type Said = Extract<StoredItem, { type: "message" | "reasoning" }>;

/**
 * What tells two messages of one id apart; reasoning is known by its id alone, because it is seldom sent back as it
 * came.
 */
function wordsOf(item: Said): string {
  if (item.type === "reasoning") return "";
  const parts = item.content.map((part) => ("text" in part ? part.text : part));
  return JSON.stringify([item.role, parts]);
}
