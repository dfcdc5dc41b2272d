import { assert } from "@antiphon/base/assert.ts";
import { jsonOf } from "@antiphon/base/json/json-text.ts";
import { isSmall, writeJsonParts } from "@antiphon/base/json/write-json.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import { lengthOfText, type StoredText } from "../../database/stored-text.ts";

/** The stored form of an item. */
export interface ItemText {
  readonly id: string;
  /** The item as JSON. */
  readonly body: StoredText;
}

export function itemTextOf(item: object): ItemText {
  assert("id" in item && typeof item.id === "string", "a stored item has an id");
  return { id: item.id, body: jsonOf(item) };
}

/** The same for a list. Small lists are written at once; longer ones leave the event loop turns in between. */
export async function itemTextsOf(items: readonly object[]): Promise<readonly ItemText[]> {
  if (isSmall(items)) return items.map(itemTextOf);
  const slices = new Slices();
  const texts: ItemText[] = [];
  for (const item of items) {
    assert("id" in item && typeof item.id === "string", "a stored item has an id");
    texts.push({ id: item.id, body: await writeJsonParts(item) });
    await slices.pause();
  }
  return texts;
}

/** The total length of items in characters. */
export function lengthOfItems(items: readonly ItemText[]): number {
  return items.reduce((length, item) => length + lengthOfText(item.body), 0);
}
