import type { InputItem, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem } from "../../base/ids.ts";
import type { Owner } from "../../runs/ports.ts";
import { beginAtCompaction } from "../compaction/begin-at-compaction.ts";
import { openCompaction } from "../compaction/compacted-context.ts";
import type { ResponseServices } from "../services.ts";
import { checkCallsOnce, checkInput } from "./context-rules.ts";
import { INPUT_NUMBER_FIRST } from "./item-numbers.ts";
import { placeList } from "./place-items.ts";
import { settleCalls } from "./settle-calls.ts";

/** The input of a request, with what went before it. */
export interface ResolvedInput {
  /** The items of this request as they are stored and listed. */
  readonly items: readonly StoredItem[];
  /** Earlier turns, then these items, each once; begun at the latest compaction, if there is one. */
  readonly context: readonly StoredItem[];
  /** For each item of the context its place in this request's input; null: it came with an earlier request. */
  readonly places: readonly (number | null)[];
}

/**
 * Turns `input` into stored items and into the model's context. Throws the catalogue's errors for what no model can
 * make sense of.
 */
export async function resolveInput(
  services: Pick<ResponseServices, "store" | "sealer">,
  owner: Owner,
  stem: IdStem,
  { input, history }: { readonly input: string | readonly InputItem[]; readonly history: readonly StoredItem[] },
): Promise<ResolvedInput> {
  const makeId = (prefix: string, counter: number): string => idFromStem(prefix, stem, INPUT_NUMBER_FIRST + counter);
  const items = await placeList(
    services,
    owner,
    { items: withoutTrigger(input), name: "input", after: history },
    makeId,
  );
  checkInput(items);
  checkCallsOnce(history, items);
  const said = saidOnce([...history, ...items]);
  const begun = beginAtCompaction(said, (sealed) => openCompaction(sealed, services.sealer, ownerText(owner)));
  const context = settleCalls(begun);
  const places = new Map(items.map((item, place) => [item, place]));
  return { items, context, places: context.map((item) => places.get(item) ?? null) };
}

/**
 * Messages and reasoning that come again with an id and the words of an earlier one count once, where they were first:
 * clients send back what the chain holds already. Other words under the same id are something new.
 */
function saidOnce(items: readonly StoredItem[]): readonly StoredItem[] {
  if (new Set(items.map(({ id }) => id)).size === items.length) return items;
  const said = new Map<string, Said>();
  return items.filter((item) => {
    if (item.type !== "message" && item.type !== "reasoning") return true;
    const earlier = said.get(item.id);
    if (earlier !== undefined && wordsOf(earlier) === wordsOf(item)) return false;
    said.set(item.id, item);
    return true;
  });
}

type Said = Extract<StoredItem, { type: "message" | "reasoning" }>;

/**
 * What tells two messages of one id apart; reasoning is known by its id alone, because it is seldom sent back as it
 * came.
 */
function wordsOf(item: Said): string {
  if (item.type === "reasoning") return "";
  const parts = item.content.map((part) => ("text" in part ? part.text : part));
  return JSON.stringify([item.role, parts]);
}

/** A `compaction_trigger` says what to do, and is no part of what was said. */
function withoutTrigger(input: string | readonly InputItem[]): string | readonly InputItem[] {
  return typeof input === "string" ? input : input.filter(({ type }) => type !== "compaction_trigger");
}

/** The text that seals are bound to. */
export function ownerText(owner: Owner): string {
  return `${owner.organization}/${owner.project}`;
}
