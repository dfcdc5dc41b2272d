import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { validateStoredItem } from "../../../generated/responses-api/validators.js";
import { isRecord } from "../../base/records.ts";

/** More members than any item can lack. */
const FILLED_MEMBERS_MAX = 1_000;

/**
 * The item with every member that a stored item always has: what may be left out of an item that is sent is listed as null, or as an empty list.
 * Null where the item lacks something that has no such form, or is none at all.
 */
export function completedItem(sent: unknown): StoredItem | null {
  if (validateStoredItem(sent)) return sent;
  const item: unknown = structuredClone(sent);
  for (let filled = 0; filled < FILLED_MEMBERS_MAX && fillMember(item); filled++)
    if (validateStoredItem(item)) return item;
  return null;
}

/** Fills the member that the latest check has missed; false if it found some other fault. */
function fillMember(item: unknown): boolean {
  const fault = validateStoredItem.errors?.[0];
  const name = fault?.params["missingProperty"];
  if (fault?.keyword !== "required" || typeof name !== "string") return false;
  const holder = memberAt(item, fault.instancePath);
  if (!isRecord(holder)) return false;
  holder[name] = emptyFormOf(fault.parentSchema, name);
  return true;
}

function memberAt(item: unknown, path: string): unknown {
  let member = item;
  for (const name of path.split("/").slice(1)) {
    if (Array.isArray(member)) member = member[Number(name)];
    else member = isRecord(member) ? member[name] : undefined;
  }
  return member;
}

function emptyFormOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  const member = isRecord(properties) ? properties[name] : undefined;
  return isRecord(member) && member["type"] === "array" ? [] : null;
}
