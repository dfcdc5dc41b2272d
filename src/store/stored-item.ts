import type { StoredItem } from "../../generated/responses-api/types.ts";
import { rememberJson } from "../base/json-text.ts";

/** The item that a row keeps as JSON. */
export function storedItem(body: string): StoredItem {
  const item: StoredItem = JSON.parse(body);
  return rememberJson(item, body);
}
