import { type Kysely, sql } from "kysely";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import type { Database } from "../schema.ts";
import type { CommitEnd, CommitRecovery, TransactionRules } from "../transaction-rules.ts";
import { ArrayInserter, addAll } from "./array-inserter.ts";
import { ConnectionLost, isWithoutParent } from "./postgres-faults.ts";

/** The numbers of locks that are not on a row. */
const CHAINS_LOCK = 1_160_001;

/** The text of a row that blocks a commit that was not executed. */
const UNDONE = " ";

/**
 * Other transactions write concurrently, so a reader locks what it reads before it writes. Lock order: worker,
 * conversations by id, chains, responses. `patienceMs`: how long a commit is retried.
 */
export function postgresRules(patienceMs: number): TransactionRules {
  return {
    inserter: new ArrayInserter(),
    redo: null,
    recovery: recoveryWithin(patienceMs),
    addAll,

    async holdConversations(transaction: Kysely<Database>, ids: readonly string[]): Promise<void> {
      const idList = sql.val([...new Set(ids)]);
      await sql`select id from conversations where id = any(${idList}::text[]) order by id for update`.execute(
        transaction,
      );
    },

    /** Whether a deleted link must be kept depends on links that others may be deleting. */
    async holdChains(transaction: Kysely<Database>): Promise<void> {
      await sql`select pg_advisory_xact_lock(${CHAINS_LOCK}::bigint)`.execute(transaction);
    },
  };
}

function recoveryWithin(patienceMs: number): CommitRecovery {
  return {
    patienceMs,
    mayPass: (error) => error instanceof StoreBusy,
    isUnknown: (error) => error instanceof ConnectionLost,
    settle,
  };
}

/** If the commit is still running, the insert waits for its end. */
async function settle(
  db: Kysely<Database>,
  { worker, position }: { readonly worker: number; readonly position: number },
): Promise<CommitEnd> {
  try {
    await sql`insert into event_journal (worker, position, body) values (${worker}, ${position}, ${UNDONE})
      on conflict do nothing`.execute(db);
  } catch (error) {
    if (isWithoutParent(error)) return "gone";
    throw error;
  }
  const { rows } = await sql<{ readonly body: string }>`
    select body from event_journal where worker = ${worker} and position = ${position}`.execute(db);
  const [row] = rows;
  if (row === undefined) return "gone";
  return row.body === UNDONE ? "undone" : "stored";
}
