import { type Kysely, sql } from "kysely";
import type { Database } from "../database/schema.ts";
import type { TransactionRules } from "../database/transaction-rules.ts";
import { ArrayInserter } from "./array-inserter.ts";

/** Numbers of locks that are on no row. */
const CHAINS_LOCK = 1_160_001;

/**
 * Other transactions write at the same time, so whoever reads in order to write locks what it reads. All take their
 * locks in one order: worker, conversations by id, chains, responses.
 */
export const POSTGRES_RULES: TransactionRules = {
  inserter: new ArrayInserter(),
  marksCommits: true,

  async holdConversations(transaction: Kysely<Database>, ids: readonly string[]): Promise<void> {
    const wanted = sql.val([...new Set(ids)]);
    await sql`select id from conversations where id = any(${wanted}::text[]) order by id for update`.execute(
      transaction,
    );
  },

  /** Whether a deleted link must be kept depends on links that others may be deleting. */
  async holdChains(transaction: Kysely<Database>): Promise<void> {
    await sql`select pg_advisory_xact_lock(${CHAINS_LOCK}::bigint)`.execute(transaction);
  },
};
