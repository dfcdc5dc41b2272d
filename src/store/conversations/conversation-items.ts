import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { StoredItem } from "../../../generated/responses-api/types.ts";
import type { ConversationItems } from "../../responses-api/ports.ts";
import type { Owner } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";
import { CONTEXT_ITEMS_MAX, type ContextBudget } from "../responses/context-budget.ts";
import type { ItemPlace } from "../responses/item-places.ts";
import { storedItem } from "../responses/stored-item.ts";

const SLICE_BYTES = 1024 * 1024;
const SLICE_ITEMS_MAX = 2_000;

/**
 * The places of a conversation's items up to this sequence, also if the conversation was deleted. Returns at most one
 * more than a context may hold.
 */
export async function findConversationPlaces(
  db: Kysely<Database>,
  part: ConversationPart,
): Promise<readonly (ItemPlace & { readonly id: string })[]> {
  const rows = await itemsOf(db, part)
    .select(["id", "sequence", sql<number>`octet_length(body)`.as("bytes")]) // Does not read the bodies.
    .orderBy("sequence")
    .limit(CONTEXT_ITEMS_MAX + 1)
    .execute();
  return rows.map(({ id, sequence, bytes }) => ({ id, sequence, bytes, table: "conversation_items" }));
}

/** The items of a conversation up to a sequence, also if the conversation was deleted. */
export interface ConversationPart {
  readonly owner: Owner;
  readonly conversationId: string;
  readonly lastSequence: number;
}

/** Loads part of a conversation. Throws `ContextTooLong` if the budget does not allow it. */
export async function loadConversationItems(
  db: Kysely<Database>,
  part: ConversationPart,
  budget: ContextBudget,
): Promise<ConversationItems> {
  const { count, bytes } = await itemsOf(db, part)
    .select(({ fn }) => [
      fn.countAll<number>().as("count"),
      sql<number>`coalesce(sum(octet_length(body)), 0)`.as("bytes"), // Does not read the bodies.
    ])
    .executeTakeFirstOrThrow();
  budget.takeItems(count);
  budget.takeBytes(bytes);
  const split = await db
    .selectFrom("split_calls")
    .select("call_id")
    .where("conversation_id", "=", part.conversationId)
    .limit(CONTEXT_ITEMS_MAX)
    .execute();
  const items = await readInSlices(db, part, Math.ceil(bytes / Math.max(1, count)));
  return { items, splitCalls: new Set(split.map((row) => row.call_id)) };
}

/** Reads in slices of about a megabyte, with a turn of the event loop between them. */
async function readInSlices(db: Kysely<Database>, part: ConversationPart, itemBytes: number): Promise<StoredItem[]> {
  const limit = Math.min(SLICE_ITEMS_MAX, Math.max(1, Math.floor(SLICE_BYTES / Math.max(1, itemBytes))));
  const items: StoredItem[] = [];
  for (let after = -1; ; ) {
    const rows = await itemsOf(db, part)
      .select(["sequence", "body"])
      .where("sequence", ">", after)
      .orderBy("sequence")
      .limit(limit)
      .execute();
    for (const { body } of rows) items.push(storedItem(body));
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return items;
    after = last.sequence;
    await nextTurn();
  }
}

function itemsOf(db: Kysely<Database>, { owner, conversationId, lastSequence }: ConversationPart) {
  return db
    .selectFrom("conversation_items")
    .where("conversation_id", "=", conversationId)
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .where("sequence", "<=", lastSequence);
}
