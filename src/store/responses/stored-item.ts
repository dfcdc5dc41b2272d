import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { rememberJson } from "../../base/json/json-text.ts";
import { storedJson } from "../stored-json.ts";

/** The id of the call that an item is, or is the output of; null for any other item. */
export function callIdOf(item: StoredItem): string | null {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}

/** The item that a row keeps as JSON. */
export function storedItem(body: string): StoredItem {
  return rememberJson(storedJson<StoredItem>(body), body);
}
