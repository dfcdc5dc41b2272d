import { assert } from "../../base/assert.ts";
import { jsonOf } from "../../base/json/json-text.ts";

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

/** How much text items are, in characters. */
export function lengthOfItems(items: readonly ItemText[]): number {
  return items.reduce((length, item) => length + item.body.length, 0);
}
