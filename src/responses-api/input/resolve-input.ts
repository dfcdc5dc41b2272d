import type { InputItem, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem } from "../../base/ids.ts";
import type { Owner } from "../../runs/ports.ts";
import { beginAtCompaction } from "../compaction/begin-at-compaction.ts";
import { openCompaction } from "../compaction/compacted-context.ts";
import type { Sealer } from "../keeping/seal.ts";
import { checkCallsOnce, checkInput } from "./context-rules.ts";
import { INPUT_NUMBER_FIRST } from "./item-numbers.ts";
import { type InputSources, placeList } from "./place-list.ts";
import { saidOnce } from "./said-once.ts";
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
  sources: InputSources & { readonly sealer: Sealer },
  owner: Owner,
  stem: IdStem,
  { input, history }: { readonly input: string | readonly InputItem[]; readonly history: readonly StoredItem[] },
): Promise<ResolvedInput> {
  const makeId = (prefix: string, counter: number): string => idFromStem(prefix, stem, INPUT_NUMBER_FIRST + counter);
  const items = await placeList(
    sources,
    owner,
    { items: withoutTrigger(input), name: "input", after: history },
    makeId,
  );
  checkInput(items);
  checkCallsOnce(history, items);
  const said = saidOnce([...history, ...items]);
  const begun = beginAtCompaction(said, (sealed) => openCompaction(sealed, sources.sealer, ownerText(owner)));
  const context = settleCalls(begun);
  const places = new Map(items.map((item, place) => [item, place]));
  return { items, context, places: context.map((item) => places.get(item) ?? null) };
}

/** A `compaction_trigger` says what to do, and is no part of what was said. */
function withoutTrigger(input: string | readonly InputItem[]): string | readonly InputItem[] {
  return typeof input === "string" ? input : input.filter(({ type }) => type !== "compaction_trigger");
}

/** The text that seals are bound to. */
export function ownerText(owner: Owner): string {
  return `${owner.organization}/${owner.project}`;
}
