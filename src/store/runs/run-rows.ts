import { type Kysely, type SqlBool, sql } from "kysely";
import type { Response } from "../../../generated/responses-api/types.ts";
import type { Database } from "../database/schema.ts";
import { forgetItems, keepAsAncestor } from "../responses/ancestors.ts";
import type { CommitPlan, UnfinishedRun } from "./commit-plan.ts";
import { emptyTail } from "./run-tail.ts";

/** The statuses of a response that has not ended. */
export const LIVE_STATUSES: readonly Response["status"][] = ["queued", "in_progress"];
/**
 * Written like the condition of the index of live responses. With parameters SQLite would not use that index and would
 * read every response.
 */
export const IS_LIVE = sql<SqlBool>`responses.status in ('queued', 'in_progress')`;

/**
 * Updates live responses. Returns the runs that this worker does not hold or that had already ended: the first end
 * wins.
 */
export async function updateResponses(
  db: Kysely<Database>,
  worker: number,
  updates: CommitPlan["updates"],
): Promise<ReadonlySet<string>> {
  const lost = new Set<string>();
  for (const { responseId, columns } of updates) {
    const { numUpdatedRows } = await db
      .updateTable("responses")
      .set({ ...columns, version: (expression) => expression("version", "+", 1) })
      .where("id", "=", responseId)
      .where("worker", "=", worker)
      .where("status", "in", LIVE_STATUSES)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) lost.add(responseId);
  }
  return lost;
}

/** Deletes responses. Returns the jobs that found something to delete. */
export async function deleteResponses(
  db: Kysely<Database>,
  deletions: CommitPlan["deletions"],
): Promise<ReadonlyMap<number, string>> {
  const deleted = new Map<number, string>();
  for (const { job, responseId, owner } of deletions) {
    const isContinued = await keepAsAncestor(db, owner, responseId);
    const row = await db
      .deleteFrom("responses")
      .where("id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .returning("previous_response_id as previousId")
      .executeTakeFirst();
    if (row === undefined) continue;
    if (!isContinued) await forgetItems(db, responseId, row.previousId);
    await db.deleteFrom("event_chunks").where("response_id", "=", responseId).execute();
    await db.deleteFrom("conversation_locks").where("response_id", "=", responseId).execute();
    deleted.set(job, responseId);
  }
  return deleted;
}

/** Restores the state of a live run of this worker from its chunks; null if there is no such run. */
export async function findLiveRun(
  db: Kysely<Database>,
  worker: number,
  responseId: string,
): Promise<UnfinishedRun | null> {
  const owner = await db
    .selectFrom("responses")
    .select(["organization", "project"])
    .where("id", "=", responseId)
    .where("worker", "=", worker)
    .where("status", "in", LIVE_STATUSES)
    .executeTakeFirst();
  return owner === undefined ? null : { owner, tail: emptyTail(await findNextNumber(db, responseId)) };
}

/** The number of the event that follows the chunks of a run. */
export async function findNextNumber(db: Kysely<Database>, responseId: string): Promise<number> {
  const newest = await db
    .selectFrom("event_chunks")
    .select("last_number")
    .where("response_id", "=", responseId)
    .orderBy("last_number", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest === undefined ? 0 : newest.last_number + 1;
}
