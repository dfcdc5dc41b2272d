import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { dialectal, nowMs } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { isOneOf } from "../database/time-first.ts";
import { IS_LIVE } from "../rows/runs/run-rows.ts";
import type { ClaimedRun, UnmadeRow } from "./database-calls.ts";
import type { Lease } from "./workers/lease.ts";
import { type RemovalRules, removeDeadWorkers, removeRedoLogs } from "./workers/remove-dead-workers.ts";

/** Removes dead workers and lists the live runs that no other worker holds; none if this worker has lost its lease. */
export async function listUnmadeRuns(
  db: Kysely<Database>,
  lease: Lease,
  rules: RemovalRules,
): Promise<readonly UnmadeRow[]> {
  const own = await lease.number();
  const { deadWorkers, unmade } = await db.transaction().execute(async (transaction) => {
    if (!(await lease.hold(transaction, own))) return { deadWorkers: [], unmade: [] };
    const dead = await lease.findDead(transaction, own);
    await removeDeadWorkers(transaction, rules, dead);
    return { deadWorkers: dead, unmade: await findUnmade(transaction, own) };
  });
  removeRedoLogs(rules, deadWorkers);
  return unmade;
}

/** Claims runs listed by `listUnmadeRuns`, unless they have ended or were claimed since. */
export async function claimRuns(
  db: Kysely<Database>,
  lease: Lease,
  ids: readonly string[],
): Promise<readonly ClaimedRun[]> {
  const own = await lease.number();
  return await db.transaction().execute(async (transaction) => {
    if (!(await lease.hold(transaction, own))) return [];
    const wantedIds = new Set(ids);
    const unmade = (await findUnmade(transaction, own)).filter(({ id }) => wantedIds.has(id));
    const claims: ClaimedRow[] = [];
    for (const [holder, runs] of Map.groupBy(unmade, ({ worker }) => worker))
      claims.push(...(await takeOver(transaction, { own, holder, ids: runs.map(({ id }) => id) })));
    return claims.toSorted(byAge).map(({ number: _number, created_at: _createdAt, ...run }) => run);
  });
}

interface Takeover {
  readonly own: number;
  /** The worker that held the runs when they were listed: a dead one, this one, or none. */
  readonly holder: number | null;
  readonly ids: readonly string[];
}

/**
 * Another server may claim the same runs now. PostgreSQL skips runs locked by the other, and each run is claimed only
 * if its holder is unchanged.
 */
async function takeOver(db: Kysely<Database>, { own, holder, ids }: Takeover): Promise<readonly ClaimedRow[]> {
  const isStillHeld = holder === null ? sql<SqlBool>`worker is null` : sql<SqlBool>`worker = ${holder}`;
  const passingOver = dialectal(sql``, () => sql`order by number for update skip locked`);
  const { rows } = await sql<ClaimedRow>`
    with free as (
      select number from responses where ${isOneOf("responses.id", ids)} and ${IS_LIVE} and ${isStillHeld} ${passingOver}
    )
    update responses set worker = ${own}, due_at = null where number in (select number from free)
    returning number, created_at, organization, project, body, task, restarts, restart_steps, turn_attempts, 
      stop_asked + (case when paused_at is null then 0 else 2 end) + 4 * is_steered as requests`.execute(db);
  return rows;
}

type ClaimedRow = ClaimedRun & Dated;

/** Whether a model will be called for it: it can be restarted, and neither a stop nor a pause was requested. */
const NEEDS_PLACE = sql<number>`(case when task is not null and stop_asked = 0 and paused_at is null then 1 else 0 end)`;

/** The beginning of a task, which contains its version. */
const TASK_HEAD_CHARACTERS = 32;
const TASK_HEAD = sql<string | null>`substr(task, 1, ${sql.lit(TASK_HEAD_CHARACTERS)})`;

/** A suspended run is due at its time, a paused one never, and each when a stop was requested. */
function isDue(): RawBuilder<SqlBool> {
  return sql<SqlBool>`(stop_asked = 1 or (paused_at is null and (due_at is null or due_at <= ${nowMs()})))`;
}

/** The live runs that no other worker holds, oldest first, including this worker's own. */
async function findUnmade(db: Kysely<Database>, own: number) {
  const live = db
    .selectFrom("responses")
    .select(["id", "number", "worker", "created_at", "organization", "project"])
    .select([NEEDS_PLACE.as("needsPlace"), TASK_HEAD.as("taskHead")])
    .where(IS_LIVE);
  const others = db.selectFrom("workers").select("id").where("id", "!=", own);
  const unmade = await live
    .where("worker", "is", null)
    .where(isDue())
    // Each part can use the index of live responses; worker numbers are above 0.
    .unionAll(live.where("worker", ">", 0).where("worker", "not in", others))
    .execute();
  // Sorting in SQL would not use the index.
  return unmade.toSorted(byAge);
}

interface Dated {
  /** Unix seconds. */
  readonly created_at: number;
  /** Increases with each stored response. */
  readonly number: number;
}

/** Compares for sorting: the oldest run comes first. */
function byAge(one: Dated, other: Dated): number {
  return one.created_at - other.created_at || one.number - other.number;
}
