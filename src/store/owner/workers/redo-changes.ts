import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import { isOneOf } from "../../database/time-first.ts";
import type { TransactionRules } from "../../database/transaction-rules.ts";
import { planCommit, type UnfinishedRun } from "../../rows/runs/commit-plan.ts";
import { findLiveRun } from "../../rows/runs/run-rows.ts";
import type { RedoJob } from "../../rows/runs/write-job.ts";

const NONE: ReadonlySet<string> = new Set();

/**
 * Stores the changes of a dead worker's redo log that its commits have not reached. Changes that do not follow the
 * stored events are left out. Run it in the transaction that removes the worker, once its tails are chunks.
 */
export async function redoChanges(
  transaction: Kysely<Database>,
  { inserter, redo }: Pick<TransactionRules, "inserter" | "redo">,
  worker: number,
): Promise<void> {
  if (redo === null) return;
  const row = await transaction
    .selectFrom("workers")
    .select("redo_position")
    .where("id", "=", worker)
    .executeTakeFirst();
  if (row === undefined) return;
  const jobs = redo.read(worker, row.redo_position).flatMap((text) => readOwnJson<readonly RedoJob[]>(text));
  if (jobs.length === 0) return;
  const newJobs = await withoutStored(transaction, jobs);
  const runs = await findRuns(transaction, worker, newJobs);
  const overdue = new Set(runs.keys()); // Their tails become chunks.
  const plan = planCommit(newJobs, { worker, runs, overdue, lostIds: NONE });
  await inserter.insert(transaction, "responses", plan.responses);
  await inserter.insertParts(transaction, "event_chunks", plan.chunks);
  await inserter.insertParts(transaction, "items", plan.items);
}

/** Leaves out the openings of runs that are stored. */
async function withoutStored(db: Kysely<Database>, jobs: readonly RedoJob[]): Promise<readonly RedoJob[]> {
  const openedIds = jobs.flatMap((job) => (job.type === "open" ? [job.responseId] : []));
  if (openedIds.length === 0) return jobs;
  const stored = await db.selectFrom("responses").select("id").where(isOneOf("responses.id", openedIds)).execute();
  const storedIds = new Set(stored.map(({ id }) => id));
  return jobs.filter((job) => job.type !== "open" || !storedIds.has(job.responseId));
}

/** The live runs that these jobs continue. */
async function findRuns(
  db: Kysely<Database>,
  worker: number,
  jobs: readonly RedoJob[],
): Promise<ReadonlyMap<string, UnfinishedRun>> {
  const runs = new Map<string, UnfinishedRun>();
  const openedIds = new Set(jobs.flatMap((job) => (job.type === "open" ? [job.responseId] : [])));
  for (const id of new Set(jobs.map(({ responseId }) => responseId))) {
    const run = openedIds.has(id) ? null : await findLiveRun(db, worker, id);
    if (run !== null) runs.set(id, run);
  }
  return runs;
}
