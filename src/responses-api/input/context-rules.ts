import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { duplicateItem, reasoningWithoutFollower } from "../errors/state-errors.ts";
import { outputSeedOf } from "./item-numbers.ts";

/** Refuses input that no model can make sense of. */
export function checkInput(input: readonly StoredItem[]): void {
  checkIdsOnce(input);
  checkReasoning(input);
}

/** `list` is the member the items came in. */
export function checkIdsOnce(items: readonly StoredItem[], list = "input"): void {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (seen.has(id)) throw duplicateItem(id, list);
    seen.add(id);
  }
}

/** A call that is sent again with the id of an earlier one is refused, as by the reference; without an id it may be sent again (`settle-calls.ts`). */
export function checkCallsOnce(history: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sent = new Set(input.flatMap(({ id, type }) => (type.endsWith("_call") ? [id] : [])));
  const repeated = history.find(({ id }) => sent.has(id));
  if (repeated !== undefined) throw duplicateItem(repeated.id);
}

/** A conversation holds an item once. */
export function checkNotRepeated(conversation: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sent = new Set(input.map(({ id }) => id));
  const repeated = conversation.find(({ id }) => sent.has(id));
  if (repeated !== undefined) throw duplicateItem(repeated.id);
}

/** A reasoning item belongs to what it led to: both are sent, or neither. */
function checkReasoning(input: readonly StoredItem[]): void {
  for (const [index, item] of input.entries()) {
    if (item.type === "reasoning" && !mayFollow(item.id, input[index + 1])) throw reasoningWithoutFollower(item.id);
  }
}

/** Of reasoning that this server made it is known which messages belong to it; ids of others tell nothing. */
function mayFollow(reasoningId: string, item: StoredItem | undefined): boolean {
  if (item === undefined) return false;
  if (item.type !== "message") return !item.type.endsWith("_output");
  if (item.role !== "assistant") return false;
  const seed = outputSeedOf(reasoningId);
  return seed === null || outputSeedOf(item.id) === seed;
}
