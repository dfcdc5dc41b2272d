import type { InputItem, ItemReferenceInput, StoredItem } from "../../../generated/responses-api/types.ts";
import type { Owner } from "../../runs/ports.ts";
import { contextTooLong, itemNotStored } from "../errors/state-errors.ts";
import { ContextTooLong, type ResponseStore } from "../ports.ts";
import { type CanonicalItem, expandInput } from "./expand-input.ts";
import { type MakeId, placeItem } from "./place-items.ts";

/** Where items that are referred to are found. */
export interface InputSources {
  readonly store: Pick<ResponseStore, "findItems">;
}

/** Items as a client sends them. */
export interface SentList {
  readonly items: string | readonly InputItem[];
  /** The member they came in, as errors name it. */
  readonly name: "input" | "items" | "conversation";
  /** What stands before them, where the calls that they answer may be. */
  readonly after: readonly StoredItem[];
}

/** The items as they are stored and listed, references replaced by what they refer to. */
export async function placeList(
  { store }: InputSources,
  owner: Owner,
  { items, name, after }: SentList,
  makeId: MakeId,
): Promise<readonly StoredItem[]> {
  const sent = expandInput(items, answersCalls(items) ? callTypes(after) : NONE, name);
  const ids = sent.filter(isReference).map((item) => item.id);
  const referenced = ids.length === 0 ? new Map<string, StoredItem>() : await findItems(store, owner, ids, name);
  return sent.map((item, index) => {
    if (!isReference(item)) return placeItem(item, index, makeId, name);
    const found = referenced.get(item.id);
    if (found === undefined) throw itemNotStored(item.id, name);
    return found;
  });
}

function findItems(
  store: InputSources["store"],
  owner: Owner,
  ids: readonly string[],
  name: SentList["name"],
): Promise<ReadonlyMap<string, StoredItem>> {
  return store.findItems(owner, ids).catch((error: unknown) => {
    throw error instanceof ContextTooLong ? contextTooLong(name) : error;
  });
}

function isReference(item: CanonicalItem): item is ItemReferenceInput {
  return item.type === "item_reference";
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Whether the types of earlier calls matter. */
function answersCalls(items: SentList["items"]): boolean {
  return typeof items !== "string" && items.some(({ type }) => type === "tool_result");
}

function callTypes(items: readonly StoredItem[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const item of items) {
    if ("call_id" in item && typeof item.call_id === "string" && item.type.endsWith("_call"))
      types.set(item.call_id, item.type);
  }
  return types;
}
