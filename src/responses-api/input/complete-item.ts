import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { validateStoredItem } from "../../../generated/responses-api/validators.js";
import { isRecord } from "../../base/json/records.ts";

/** More kinds of members than any item can lack. */
const FILLED_KINDS_MAX = 200;

/**
 * The item with every member that a stored item always has: what may be left out of an item that is sent is listed as
 * null, or as an empty list. Null where the item lacks something that has no such form, or is none at all.
 */
export function completedItem(sent: unknown): StoredItem | null {
  if (validateStoredItem(sent)) return sent;
  const item: unknown = structuredClone(sent);
  for (let filled = 0; filled < FILLED_KINDS_MAX && fillMember(item); filled++)
    if (validateStoredItem(item)) return item;
  return null;
}

/**
 * Fills the member that the latest check has missed, and the same member of all its siblings: a check of the item for
 * each element of a list would take time by the square of its length. False if the check found some other fault.
 */
function fillMember(item: unknown): boolean {
  const fault = validateStoredItem.errors?.[0];
  const name = fault?.params["missingProperty"];
  if (fault?.keyword !== "required" || typeof name !== "string") return false;
  const holders = siblingsAt(item, fault.instancePath.split("/").slice(1)).filter(isRecord);
  const lacking = holders.filter((holder) => !Object.hasOwn(holder, name));
  for (const holder of lacking) holder[name] = emptyFormOf(fault.parentSchema, name);
  return lacking.length > 0;
}

/** What lies at the path, and in the same place of all elements of the same kind where the path goes through a list. */
function siblingsAt(item: unknown, path: readonly string[]): unknown[] {
  let member = item;
  let siblings: unknown[] = [item];
  for (const name of path) {
    if (Array.isArray(member)) {
      member = member[Number(name)];
      const kind = kindOf(member);
      siblings = siblings.flatMap((value) => (Array.isArray(value) ? value : []));
      siblings = siblings.filter((value) => kindOf(value) === kind);
    } else {
      member = isRecord(member) ? member[name] : undefined;
      siblings = siblings.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []));
    }
  }
  return siblings;
}

function kindOf(value: unknown): unknown {
  return isRecord(value) ? value["type"] : undefined;
}

function emptyFormOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  const member = isRecord(properties) ? properties[name] : undefined;
  return isRecord(member) && member["type"] === "array" ? [] : null;
}
