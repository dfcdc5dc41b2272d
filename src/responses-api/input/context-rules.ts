import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { duplicateItem, reasoningWithoutFollower } from "../errors/state-errors.ts";
import { isInputId, outputSeedOf } from "./item-numbers.ts";

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

/**
 * A call that is sent again with the id of an earlier one is refused, as by the reference; without an id it may be sent
 * again (`settle-calls.ts`).
 */
export function checkCallsOnce(history: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sent = new Set(input.flatMap(({ id, type }) => (type.endsWith("_call") ? [id] : [])));
  const repeated = sent.size === 0 ? undefined : history.find(({ id }) => sent.has(id));
  if (repeated !== undefined) throw duplicateItem(repeated.id);
}

/** A conversation holds an item once. */
export function checkNotRepeated(conversation: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sent = new Set(input.map(({ id }) => id));
  const repeated = conversation.find(({ id }) => sent.has(id));
  if (repeated !== undefined) throw duplicateItem(repeated.id);
}

type Reasoning = Extract<StoredItem, { type: "reasoning" }>;

/** A reasoning item belongs to what it led to: both are sent, or neither. */
function checkReasoning(input: readonly StoredItem[]): void {
  for (const [index, item] of input.entries()) {
    if (item.type === "reasoning" && !mayFollow(item, input[index + 1])) throw reasoningWithoutFollower(item.id);
  }
}

/**
 * Ids that this server made tell which messages belong to its reasoning; other ids tell nothing. Clients that carry
 * sealed reasoning, such as the AI SDK, send the message after it without its id.
 */
function mayFollow({ id, encrypted_content: sealed }: Reasoning, item: StoredItem | undefined): boolean {
  if (item === undefined) return false;
  if (item.type !== "message") return !item.type.endsWith("_output");
  if (item.role !== "assistant") return false;
  const seed = outputSeedOf(id);
  if (seed === null || outputSeedOf(item.id) === seed) return true;
  return sealed != null && isInputId(item.id);
}
