import type { Kysely, Transaction } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { TransactionRules } from "../../database/transaction-rules.ts";
import { forgetItems, isContinued } from "../../rows/items/ancestors.ts";
import { LIVE_STATUSES } from "../../rows/runs/run-rows.ts";

/** The number of responses that one step checks, so that each step is short. */
const STEP_ROWS = 50;

/** The position of the next step. Steps go from the newest to the oldest. */
export interface ExpiryCursor {
  readonly createdAt: number;
  readonly number: number;
}

/** The result of one step. */
export interface ExpiryStep {
  readonly deleted: number;
  /** Null if there is nothing older. */
  readonly next: ExpiryCursor | null;
}

/** Removes ended responses that are older than their time to live. */
export interface Expiry {
  /**
   * Checks some of the responses created before `before` (Unix seconds). Removes responses that have ended and that no
   * other response continues, with their items and events. A chain therefore expires as a whole, once its last response
   * is old.
   */
  deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep>;
}

/** Writes without the commit queue, because runs no longer write to ended responses. */
export class StoredExpiry implements Expiry {
  readonly #db: Kysely<Database>;
  readonly #rules: TransactionRules;

  constructor(db: Kysely<Database>, rules: TransactionRules) {
    this.#db = db;
    this.#rules = rules;
  }

  async deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    const rows = await findOld(this.#db, before, cursor);
    const last = rows.at(-1);
    if (last === undefined) return { deleted: 0, next: null };
    const count = await this.#db.transaction().execute(async (transaction) => {
      await this.#rules.holdChains(transaction);
      return await deleteEach(
        transaction,
        rows.map(({ number }) => number),
      );
    });
    const next = rows.length < STEP_ROWS ? null : { createdAt: last.created_at, number: last.number };
    return { deleted: count, next };
  }
}

function findOld(db: Kysely<Database>, before: number, cursor: ExpiryCursor | null) {
  return db
    .selectFrom("responses")
    .select(["number", "created_at"])
    .where("created_at", "<", before)
    .$if(cursor !== null, (query) =>
      query.where((expression) =>
        expression(
          expression.refTuple("created_at", "number"),
          "<",
          expression.tuple(cursor?.createdAt ?? 0, cursor?.number ?? 0),
        ),
      ),
    )
    .orderBy("created_at", "desc")
    .orderBy("number", "desc")
    .limit(STEP_ROWS)
    .execute();
}

/** Deletes in the given order, so that a response can be deleted right after the one that continues it. */
async function deleteEach(db: Transaction<Database>, numbers: readonly number[]): Promise<number> {
  let count = 0;
  for (const number of numbers) {
    const row = await db
      .deleteFrom("responses")
      .where("number", "=", number)
      .where("status", "not in", LIVE_STATUSES)
      .where((expression) => expression.not(isContinued("responses")))
      .returning("previous_response_id as previousId")
      .executeTakeFirst();
    if (row === undefined) continue;
    await forgetItems(db, number, row.previousId);
    await db.deleteFrom("event_chunks").where("response_number", "=", number).execute();
    count += 1;
  }
  return count;
}
