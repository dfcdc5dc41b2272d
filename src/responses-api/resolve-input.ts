import type { InputItem, ItemReferenceInput, StoredItem } from "../../generated/responses-api/types.ts";
import { type IdStem, idFromStem } from "../base/ids.ts";
import type { Owner } from "../runs/ports.ts";
import { checkContext } from "./context-rules.ts";
import { itemNotStored } from "./errors/state-errors.ts";
import { type CanonicalItem, expandInput } from "./expand-input.ts";
import { placeItem } from "./place-items.ts";
import type { ResponseStore } from "./ports.ts";

export interface InputSources {
  readonly store: Pick<ResponseStore, "findItems">;
}

export interface ResolvedInput {
  /** The items of this request as they are stored and listed. */
  readonly items: readonly StoredItem[];
  /** Earlier turns, then these items. */
  readonly context: readonly StoredItem[];
}

/** Output items of one request are numbered from 0, its input items from here, so that their ids never meet. */
const INPUT_COUNTER_FIRST = 0x10000000;

/** Turns `input` into stored items and into the model's context. Throws the catalogue's errors for what no model can make sense of. */
export async function resolveInput(
  sources: InputSources,
  owner: Owner,
  stem: IdStem,
  input: string | readonly InputItem[],
  history: readonly StoredItem[],
): Promise<ResolvedInput> {
  const sent = expandInput(input, callTypes(history));
  const referenced = await findReferenced(sources, owner, sent);
  const makeId = (prefix: string, counter: number): string => idFromStem(prefix, stem, INPUT_COUNTER_FIRST + counter);
  const items = sent.map((item, index) => {
    if (!isReference(item)) return placeItem(item, index, makeId);
    const found = referenced.get(item.id);
    if (found === undefined) throw itemNotStored(item.id);
    return found;
  });
  checkContext(history, items);
  return { items, context: [...history, ...items] };
}

/** The text that seals are bound to. */
export function ownerText(owner: Owner): string {
  return `${owner.organization}/${owner.project}`;
}

function isReference(item: CanonicalItem): item is ItemReferenceInput {
  return item.type === "item_reference";
}

async function findReferenced(
  sources: InputSources,
  owner: Owner,
  sent: readonly CanonicalItem[],
): Promise<ReadonlyMap<string, StoredItem>> {
  const ids = sent.filter(isReference).map((item) => item.id);
  return ids.length === 0 ? new Map() : sources.store.findItems(owner, ids);
}

function callTypes(history: readonly StoredItem[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const item of history) {
    if ("call_id" in item && typeof item.call_id === "string" && item.type.endsWith("_call"))
      types.set(item.call_id, item.type);
  }
  return types;
}
