import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { duplicateItem, reasoningWithoutFollower } from "../errors/state-errors.ts";
import { isInputId, outputSeedOf } from "./item-numbers.ts";

/** Refuses input with duplicate ids, or with reasoning that lacks its following item. */
export async function checkInput(input: readonly StoredItem[]): Promise<void> {
  await checkIdsUnique(input);
  checkReasoning(input);
}

/** `list`: the request member with the items, for errors. */
export async function checkIdsUnique(items: readonly StoredItem[], list = "input"): Promise<void> {
  const seenIds = new Set<string>();
  await eachInSlices(items, ({ id }) => {
    if (seenIds.has(id)) throw duplicateItem(id, list);
    seenIds.add(id);
  });
}

/**
 * Refuses a call that repeats the id of an earlier item, as the reference does. A call sent again without an id is
 * accepted (`pair-calls.ts`).
 */
export function checkCallsNotRepeated(history: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sentIds = new Set(input.flatMap(({ id, type }) => (type.endsWith("_call") ? [id] : [])));
  const duplicate = sentIds.size === 0 ? undefined : history.find(({ id }) => sentIds.has(id));
  if (duplicate !== undefined) throw duplicateItem(duplicate.id);
}

/** Refuses input items that are already in the conversation. */
export function checkItemsNotRepeated(conversation: readonly StoredItem[], input: readonly StoredItem[]): void {
  const sentIds = new Set(input.map(({ id }) => id));
  const duplicate = conversation.find(({ id }) => sentIds.has(id));
  if (duplicate !== undefined) throw duplicateItem(duplicate.id);
}

/** A reasoning item must be followed by the item it led to. */
function checkReasoning(input: readonly StoredItem[]): void {
  for (const [index, item] of input.entries()) {
    if (item.type === "reasoning" && !mayFollow(item.id, input[index + 1])) throw reasoningWithoutFollower(item.id);
  }
}

/**
 * This server's ids show whether a message and its reasoning come from the same response. Any other id is accepted, and
 * so is a message without one: some clients send reasoning with its id and remove the ids of messages.
 */
function mayFollow(reasoningId: string, item: StoredItem | undefined): boolean {
  if (item === undefined) return false;
  if (item.type !== "message") return !item.type.endsWith("_output");
  if (item.role !== "assistant") return false;
  const seed = outputSeedOf(reasoningId);
  return seed === null || outputSeedOf(item.id) === seed || isInputId(item.id);
}
