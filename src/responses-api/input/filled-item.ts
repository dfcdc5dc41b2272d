import { isRecord } from "@antiphon/base/json/records.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { validateStoredItem } from "@antiphon/contracts/responses-api/validators.js";

/** More distinct members than an item can lack. */
const FILLED_KINDS_MAX = 200;

/**
 * The item with its optional members filled in: a missing member becomes null or an empty list. Returns null if a
 * required member is missing or the value is not an item.
 */
export function filledItem(value: unknown): StoredItem | null {
  if (validateStoredItem(value)) return value;
  const item: unknown = structuredClone(value);
  for (let count = 0; count < FILLED_KINDS_MAX && fillMember(item); count++) if (validateStoredItem(item)) return item;
  return null;
}

/**
 * Fills the member that the last validation reported as missing, in all elements of the same list at once: one
 * validation per element would take quadratic time. Returns false if the validation found another fault.
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

/**
 * The value at the path. If the path leads through a list, also the values at the same position in all elements of the
 * same type.
 */
function siblingsAt(item: unknown, path: readonly string[]): unknown[] {
  let member = item;
  let siblings: unknown[] = [item];
  for (const name of path) {
    if (Array.isArray(member)) {
      member = member[Number(name)];
      const kind = typeMember(member);
      siblings = siblings.flatMap((value) => (Array.isArray(value) ? value : []));
      siblings = siblings.filter((value) => typeMember(value) === kind);
    } else {
      member = isRecord(member) ? member[name] : undefined;
      siblings = siblings.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []));
    }
  }
  return siblings;
}

function typeMember(value: unknown): unknown {
  return isRecord(value) ? value["type"] : undefined;
}

function emptyFormOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  const member = isRecord(properties) ? properties[name] : undefined;
  return isRecord(member) && member["type"] === "array" ? [] : null;
}
