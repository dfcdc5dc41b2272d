import { rememberJson } from "@antiphon/base/json/json-text.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { storedJson, storedJsonInSlices } from "../../database/stored-json.ts";

/** The `call_id` of a call or of an output; null for any other item. */
export function callIdOf(item: StoredItem): string | null {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}

/** Parses the JSON of a stored item. */
export function storedItem(body: string): StoredItem {
  return rememberJson(storedJson<StoredItem>(body), body);
}

/** The same, but over several turns of the event loop for a long item. */
export async function storedItemInSlices(body: string): Promise<StoredItem> {
  return rememberJson(await storedJsonInSlices<StoredItem>(body), body);
}
