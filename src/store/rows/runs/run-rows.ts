import { assertNever } from "@antiphon/base/assert.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { type Kysely, type SqlBool, sql } from "kysely";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import { dialectal, nowMs } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { type IdValue, isId } from "../../database/time-first.ts";
import { emptyTail } from "../events/run-tail.ts";
import { forgetItems, keepAsAncestor } from "../items/ancestors.ts";
import type { CommitPlan, ResponseUpdate, UnfinishedRun } from "./commit-plan.ts";
import type { Ending, Snapshot } from "./response-columns.ts";

/** The statuses of a response that has not ended. */
export const LIVE_STATUSES: readonly Response["status"][] = ["queued", "in_progress"];
/**
 * The same text as the condition of the index of live responses. With parameters, SQLite would not use the index and
 * would read every response.
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
  const lostIds = new Set<string>();
  for (const change of updates) {
    const { numAffectedRows } = await update(db, worker, change);
    if (numAffectedRows !== 1n) lostIds.add(change.responseId);
  }
  return lostIds;
}

function update(db: Kysely<Database>, worker: number, change: ResponseUpdate) {
  const run = { id: change.responseId, worker };
  switch (change.type) {
    case "advance":
      return advanceRun(db, { ...run, ...change.snapshot });
    case "end":
      return endRun(db, { ...run, ...change.snapshot, ...change.ending });
    case "release": {
      const { hadBegun, pauseMs, attempts } = change;
      return releaseRun(db, { ...run, now: Date.now(), pauseMs, attempts, restarts: hadBegun ? 1 : 0 });
    }
    default:
      return assertNever(change);
  }
}

type HeldRun = { readonly id: string; readonly worker: number };

const advanceRun = builtOnce((db: Kysely<Database>, params: StandIns<HeldRun & Snapshot>) =>
  updateHeld(db, params).set(snapshotFrom(params)).compile(),
);

const endRun = builtOnce((db: Kysely<Database>, params: StandIns<HeldRun & Snapshot & Ending>) =>
  updateHeld(db, params)
    .set({ ...snapshotFrom(params), ...endingFrom(params), worker: null, task: null })
    .compile(),
);

/**
 * `pauseMs`: null if the run may be claimed at once. `restarts`: the number of restarts that this clean release ends.
 */
type ReleasedRun = HeldRun & {
  readonly now: number;
  readonly pauseMs: number | null;
  readonly attempts: string | null;
  readonly restarts: number;
};

const releaseRun = builtOnce((db: Kysely<Database>, params: StandIns<ReleasedRun>) =>
  updateHeld(db, params)
    .set({
      worker: null,
      due_at: dialectal(
        sql<number | null>`${params.value("now")} + ${params.value("pauseMs")}`,
        () => sql<number | null>`${nowMs()} + ${params.value("pauseMs")}`,
      ),
      turn_attempts: params.value("attempts"),
      restarts: sql<number>`case when restarts > ${params.value("restarts")} then restarts - ${params.value("restarts")} else 0 end`,
    })
    .compile(),
);

function updateHeld(db: Kysely<Database>, params: StandIns<HeldRun>) {
  return db
    .updateTable("responses")
    .set({ version: (expression) => expression("version", "+", 1) })
    .where(isId("responses.id", params.id("id")))
    .where("worker", "=", params.value("worker"))
    .where("status", "in", LIVE_STATUSES);
}

/** Without immutable columns, so that their indexes are not touched. */
function snapshotFrom(params: StandIns<Snapshot>) {
  return {
    status: params.value("status"),
    model: params.value("model"),
    completed_at: params.value("completed_at"),
    body: params.value("body"),
  };
}

function endingFrom(params: StandIns<Ending>) {
  return {
    reply_summary: params.value("reply_summary"),
    event_times: params.value("event_times"),
    input_tokens: params.value("input_tokens"),
    output_tokens: params.value("output_tokens"),
    duration_ms: params.value("duration_ms"),
    first_text_ms: params.value("first_text_ms"),
  };
}

/** Deletes responses. Returns the jobs that found something to delete. */
export async function deleteResponses(
  db: Kysely<Database>,
  deletions: CommitPlan["deletions"],
): Promise<ReadonlyMap<number, string>> {
  const deletedIds = new Map<number, string>();
  for (const { job, responseId, owner } of deletions) {
    const isContinued = await keepAsAncestor(db, owner, responseId);
    const row = await db
      .deleteFrom("responses")
      .where(isId("responses.id", responseId))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .returning(["number", "previous_response_id as previousId"])
      .executeTakeFirst();
    if (row === undefined) continue;
    if (!isContinued) await forgetItems(db, row.number, row.previousId);
    await db.deleteFrom("event_chunks").where("response_number", "=", row.number).execute();
    await db.deleteFrom("conversation_locks").where("response_id", "=", responseId).execute();
    deletedIds.set(job, responseId);
  }
  return deletedIds;
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
    .where(isId("responses.id", responseId))
    .where("worker", "=", worker)
    .where("status", "in", LIVE_STATUSES)
    .executeTakeFirst();
  return owner === undefined ? null : { owner, tail: emptyTail(await findNextNumber(db, responseId)) };
}

/** The number of the first event after the chunks of a run. */
export async function findNextNumber(db: Kysely<Database>, responseId: string): Promise<number> {
  const newest = await db
    .selectFrom("event_chunks")
    .select("last_number")
    .where("response_number", "=", numberOf(db, responseId))
    .orderBy("last_number", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest === undefined ? 0 : newest.last_number + 1;
}

/** The number of the first event after the chunks of each live run of a worker, by the ids of their responses. */
export async function findNextNumbers(db: Kysely<Database>, worker: number): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("responses")
    .select((query) => [
      "responses.id",
      query
        .selectFrom("event_chunks")
        .select(({ fn }) => fn.max("last_number").as("last_number"))
        .whereRef("event_chunks.response_number", "=", "responses.number")
        .as("lastNumber"),
    ])
    .where("responses.worker", "=", worker)
    .where(IS_LIVE)
    .execute();
  return new Map(rows.map(({ id, lastNumber }) => [id, lastNumber === null ? 0 : lastNumber + 1]));
}

/** The number of a response, for use inside a query; null if it is not stored. */
export function numberOf(db: Kysely<Database>, responseId: string | IdValue) {
  return db.selectFrom("responses").select("responses.number").where(isId("responses.id", responseId));
}
