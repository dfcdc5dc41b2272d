import { type Kysely, sql, type Transaction } from "kysely";
import { dialectal } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { isSameId } from "../../database/time-first.ts";
import type { TransactionRules } from "../../database/transaction-rules.ts";
import { eraseAncestors } from "../../rows/items/ancestors.ts";

/** The limits of one step, so that each step is short. */
const STEP_ANCESTORS = 20;
const STEP_ITEMS = 200;
const STEP_CONVERSATIONS = 50;
const LOST_AFTER_SECONDS = 86_400;
const LOST_LOOKED_AT = 10_000;

/** The next step continues after this deleted conversation. */
export type ErasureCursor = string;

export interface ErasureStep {
  readonly erased: number;
  /** Null once everything was checked. */
  readonly next: ErasureCursor | null;
}

/** Erases deleted data once nothing stored refers to it. */
export interface Erasure {
  /** Starts with an empty cursor. */
  eraseUnused(cursor: ErasureCursor): Promise<ErasureStep>;
}

export class StoredErasure implements Erasure {
  readonly #db: Kysely<Database>;
  readonly #rules: TransactionRules;

  constructor(db: Kysely<Database>, rules: TransactionRules) {
    this.#db = db;
    this.#rules = rules;
  }

  async eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    if (cursor === "") await eraseLostExchanges(this.#db);
    const count = await this.#db.transaction().execute(async (transaction) => {
      await this.#rules.holdChains(transaction);
      return await eraseAncestors(transaction, STEP_ANCESTORS);
    });
    if (count > 0) return { erased: count, next: cursor };
    const rows = await this.#db
      .selectFrom("deleted_conversations")
      .select(["id", isReferredTo().as("isReferredTo")])
      .where("id", ">", cursor)
      .orderBy("id")
      .limit(STEP_CONVERSATIONS)
      .execute();
    const orphan = rows.find(({ isReferredTo: isNeeded }) => isNeeded !== 1);
    if (orphan !== undefined)
      return await this.#db.transaction().execute((transaction) => eraseItems(transaction, orphan.id, cursor));
    const last = rows.at(-1);
    return { erased: 0, next: last === undefined || rows.length < STEP_CONVERSATIONS ? null : last.id };
  }
}

/** Erases some items of a deleted conversation, or its last row once no item is left. */
async function eraseItems(
  transaction: Transaction<Database>,
  conversationId: string,
  cursor: ErasureCursor,
): Promise<ErasureStep> {
  const { numDeletedRows } = await transaction
    .deleteFrom("conversation_items")
    .where("sequence", "in", (query) =>
      query
        .selectFrom("conversation_items")
        .select("sequence")
        .where("conversation_id", "=", conversationId)
        .limit(STEP_ITEMS),
    )
    .executeTakeFirstOrThrow();
  if (numDeletedRows < STEP_ITEMS) {
    await transaction.deleteFrom("split_calls").where("conversation_id", "=", conversationId).execute();
    await transaction.deleteFrom("deleted_conversations").where("id", "=", conversationId).execute();
  }
  return { erased: Number(numDeletedRows), next: cursor };
}

/**
 * Erases calls whose response was never stored because its process died first. They are among the newest, and after a
 * day no response can still be in progress.
 */
async function eraseLostExchanges(db: Kysely<Database>): Promise<void> {
  const before = Math.floor(Date.now() / 1000) - LOST_AFTER_SECONDS;
  const isNew = dialectal(
    sql`rowid > (select max(rowid) from tool_exchanges) - ${LOST_LOOKED_AT}`,
    () => sql`item_id in (select item_id from tool_exchanges order by created_at desc limit ${LOST_LOOKED_AT})`,
  );
  await sql`delete from tool_exchanges where ${isNew} and created_at < ${before}
    and not exists (select 1 from responses where ${isSameId("responses.id", "tool_exchanges.response_id")})
    and not exists (select 1 from items where ${isSameId("items.id", "tool_exchanges.item_id")})
    and not exists (select 1 from conversation_items where ${isSameId("conversation_items.id", "tool_exchanges.item_id")})`.execute(
    db,
  );
}

/** Whether a stored response or ancestor was made in the conversation. */
function isReferredTo() {
  return sql<number>`(exists (select 1 from responses where conversation_id = deleted_conversations.id)
    or exists (select 1 from ancestors where conversation_id = deleted_conversations.id))`;
}
