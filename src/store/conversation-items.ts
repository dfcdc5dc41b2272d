import { type Kysely, sql } from "kysely";
import type { ConversationItems } from "../responses-api/ports.ts";
import type { Owner } from "../runs/ports.ts";
import { CONTEXT_ITEMS_MAX, type ContextBudget } from "./context-budget.ts";
import { type ItemPlace, readItems } from "./item-places.ts";
import type { Database } from "./schema.ts";

/** Where the items of a conversation are, up to this sequence; also of one that was deleted. One more than a context may hold are found at the most. */
export async function findConversationPlaces(
  db: Kysely<Database>,
  owner: Owner,
  conversationId: string,
  lastSequence: number,
): Promise<readonly (ItemPlace & { readonly id: string })[]> {
  const rows = await db
    .selectFrom("conversation_items")
    .select(["id", "sequence", sql<number>`octet_length(body)`.as("bytes")]) // Which reads no body.
    .where("conversation_id", "=", conversationId)
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .where("sequence", "<=", lastSequence)
    .orderBy("sequence")
    .limit(CONTEXT_ITEMS_MAX + 1)
    .execute();
  return rows.map((row) => ({ ...row, table: "conversation_items" }));
}

/** The items at these places, if the budget allows. */
export async function loadConversationItems(
  db: Kysely<Database>,
  conversationId: string,
  places: readonly ItemPlace[],
  budget: ContextBudget,
): Promise<ConversationItems> {
  budget.takeItems(places.length);
  for (const { bytes } of places) budget.takeBytes(bytes);
  const split = await db
    .selectFrom("split_calls")
    .select("call_id")
    .where("conversation_id", "=", conversationId)
    .limit(CONTEXT_ITEMS_MAX)
    .execute();
  return { items: await readItems(db, places), splitCalls: new Set(split.map((row) => row.call_id)) };
}
