import { type IdStem, idFromStem } from "@antiphon/base/ids.ts";
import { anyInSlices, eachInSlices, mapInSlices, Slices } from "@antiphon/base/limits/slices.ts";
import type { CreateResponseRequest, InputItem, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { type Owner, ownerText } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import { beginAtCompaction } from "../compaction/begin-at-compaction.ts";
import { openCompaction } from "../compaction/compacted-context.ts";
import type { Sealer } from "../seal.ts";
import { checkCallsNotRepeated, checkInput } from "./context-rules.ts";
import { conversationIdOf } from "./conversation-lock.ts";
import { withoutInterrupted } from "./interrupted-items.ts";
import { INPUT_NUMBER_FIRST } from "./item-numbers.ts";
import { normalizeList } from "./normalize-items.ts";
import { pairCalls } from "./pair-calls.ts";

/** The input of a request and the context it is part of. */
export interface ResolvedInput {
  /** The items of this request in stored form. */
  readonly items: readonly StoredItem[];
  /** The history from its latest compaction on, then these items, without duplicates. */
  readonly context: readonly StoredItem[];
  /** For each item of the context, its index in this request's input; null if it comes from an earlier request. */
  readonly places: readonly (number | null)[];
}

/** The members of a request that select its input. */
type InputRequest = Pick<CreateResponseRequest, "input" | "conversation">;

/**
 * Turns `input` into stored items and into the model's context. Throws if items are malformed, duplicated or lack their
 * other half, such as a call without its output.
 */
export async function resolveInput(
  { store, sealer }: { readonly store: ResponseStore; readonly sealer: Sealer },
  owner: Owner,
  stem: IdStem,
  { body, history }: { readonly body: InputRequest; readonly history: readonly StoredItem[] },
): Promise<ResolvedInput> {
  const makeId = (prefix: string, counter: number): string => idFromStem(prefix, stem, INPUT_NUMBER_FIRST + counter);
  const items = await normalizeList(
    store,
    owner,
    { items: withoutTrigger(body.input ?? []), name: "input", after: history },
    makeId,
  );
  const slices = new Slices(); // For thousands of items, each of these steps takes milliseconds.
  await checkInput(items);
  checkCallsNotRepeated(history, items);
  const all = [...history, ...items];
  const isHistoryUnique = conversationIdOf(body) !== null;
  const unique = (await hasRepeats(history, items, isHistoryUnique)) ? await withoutRepeats(all) : all;
  if (slices.isOver) await slices.next();
  const compactedItems = beginAtCompaction(unique, (sealedText) =>
    openCompaction(sealedText, sealer, sealScope(owner)),
  );
  if (slices.isOver) await slices.next();
  const context = await pairCalls(withoutInterrupted(compactedItems));
  if (slices.isOver) await slices.next();
  return { items, context, places: await placesOf(context, items) };
}

/**
 * Whether an id occurs twice. `isHistoryUnique`: the history has no duplicates, as in a stored conversation. Building a
 * set of thousands of ids is slow.
 */
async function hasRepeats(
  history: readonly StoredItem[],
  items: readonly StoredItem[],
  isHistoryUnique: boolean,
): Promise<boolean> {
  // The ids of the items are known to differ.
  if (items.length > 0 && history.length > 0) {
    const ids = new Set(items.map(({ id }) => id));
    if (await anyInSlices(history, ({ id }) => ids.has(id))) return true;
  }
  if (isHistoryUnique) return false;
  const ids = new Set<string>();
  await eachInSlices(history, ({ id }) => ids.add(id));
  return ids.size < history.length;
}

/** For each item of the context, its index among `items`; null if it is not there. */
async function placesOf(
  context: readonly StoredItem[],
  items: readonly StoredItem[],
): Promise<readonly (number | null)[]> {
  const places = new Map<StoredItem, number>();
  await eachInSlices(items, (item, place) => places.set(item, place));
  return await mapInSlices(context, (item) => places.get(item) ?? null);
}

/**
 * Clients often send back messages and reasoning that are already in the chain. If id and text repeat an earlier item,
 * the later one is dropped; the same id with another text is a new item.
 */
async function withoutRepeats(items: readonly StoredItem[]): Promise<readonly StoredItem[]> {
  const byId = new Map<string, Repeatable>();
  const result: StoredItem[] = [];
  await eachInSlices(items, (item) => {
    if (item.type === "message" || item.type === "reasoning") {
      const earlier = byId.get(item.id);
      if (earlier !== undefined && identityText(earlier) === identityText(item)) return;
      byId.set(item.id, item);
    }
    result.push(item);
  });
  return result;
}

type Repeatable = Extract<StoredItem, { type: "message" | "reasoning" }>;

/**
 * What distinguishes two messages with the same id. Reasoning is compared by id only, because clients rarely send it
 * back unchanged.
 */
function identityText(item: Repeatable): string {
  if (item.type === "reasoning") return "";
  const parts = item.content.map((part) => ("text" in part ? part.text : part));
  return JSON.stringify([item.role, parts]);
}

/** A `compaction_trigger` is an instruction to the server, not part of the context. */
function withoutTrigger(input: string | readonly InputItem[]): string | readonly InputItem[] {
  return typeof input === "string" ? input : input.filter(({ type }) => type !== "compaction_trigger");
}

/** The owner as text. A seal can only be opened with the owner text that created it. */
export function sealScope(owner: Owner): string {
  return ownerText(owner);
}
