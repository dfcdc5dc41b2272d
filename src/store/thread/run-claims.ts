import type { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import { isOneOf } from "../database/time-first.ts";
import type { TransactionRules } from "../database/transaction-rules.ts";
import { IS_LIVE } from "../runs/run-rows.ts";
import type { Lease } from "../workers/lease.ts";
import { removeDeadWorkers } from "../workers/remove-dead-workers.ts";

import type { ClaimedRun, UnmadeRun } from "./database-calls.ts";

/** Removes dead workers and lists the live runs that no other worker holds; none if this worker has lost its lease. */
export async function listUnmadeRuns(
  db: Kysely<Database>,
  lease: Lease,
  { inserter }: Pick<TransactionRules, "inserter">,
): Promise<readonly UnmadeRun[]> {
  const own = await lease.number();
  return await db.transaction().execute(async (transaction) => {
    if (!(await lease.hold(transaction, own))) return [];
    await removeDeadWorkers(transaction, inserter, await lease.findDead(transaction, own));
    return await findUnmade(transaction, own);
  });
}

/** Claims runs that `listUnmadeRuns` has listed, unless they have ended or another worker has claimed them since. */
export async function claimRuns(
  db: Kysely<Database>,
  lease: Lease,
  ids: readonly string[],
): Promise<readonly ClaimedRun[]> {
  const own = await lease.number();
  return await db.transaction().execute(async (transaction) => {
    if (!(await lease.hold(transaction, own))) return [];
    const unmade = new Set((await findUnmade(transaction, own)).map(({ id }) => id));
    const free = ids.filter((id) => unmade.has(id));
    const rows = await transaction
      .selectFrom("responses")
      .select(["organization", "project", "body", "task", "restarts", "worker"])
      .where(isOneOf("responses.id", free))
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    await transaction.updateTable("responses").set({ worker: own }).where(isOneOf("responses.id", free)).execute();
    return rows.map(({ worker, task, ...run }) => ({ ...run, task: worker === own ? null : task }));
  });
}

/** The live runs that no other worker holds, oldest first, including this worker's own. */
async function findUnmade(db: Kysely<Database>, own: number) {
  const live = db.selectFrom("responses").select(["id", "worker", "created_at"]).where(IS_LIVE);
  const others = db.selectFrom("workers").select("id").where("id", "!=", own);
  const unmade = await live
    .where("worker", "is", null)
    // Each part can use the index of live responses; worker numbers are above 0.
    .unionAll(live.where("worker", ">", 0).where("worker", "not in", others))
    .execute();
  // Sorting in SQL would not use the index.
  return unmade.toSorted((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1));
}
