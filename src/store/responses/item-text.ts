import { assert } from "../../base/assert.ts";
import { jsonOf } from "../../base/json/json-text.ts";
import { writeJson } from "../../base/json/write-json.ts";
import { Slices } from "../../base/limits/slices.ts";

/** An item as it is stored. */
export interface ItemText {
  readonly id: string;
  /** Its JSON. */
  readonly body: string;
}

export function textOf(item: object): ItemText {
  assert("id" in item && typeof item.id === "string", "a stored item has an id");
  return { id: item.id, body: jsonOf(item) };
}

/** The same for many items, which may be large: others get their turns meanwhile. */
export async function textsOf(items: readonly object[]): Promise<readonly ItemText[]> {
  const slices = new Slices();
  const texts: ItemText[] = [];
  for (const item of items) {
    assert("id" in item && typeof item.id === "string", "a stored item has an id");
    texts.push({ id: item.id, body: await writeJson(item) });
    await slices.pause();
  }
  return texts;
}

/** How much text items are, in characters. */
export function lengthOfItems(items: readonly ItemText[]): number {
  return items.reduce((length, item) => length + item.body.length, 0);
}
