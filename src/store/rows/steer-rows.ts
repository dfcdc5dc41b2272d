import { type Kysely, sql } from "kysely";
import type { TakenSteers } from "../../runs/ports/event-log.ts";
import { dialectal } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { isId } from "../database/time-first.ts";
import { takesInput } from "./runs/commit-needs.ts";
import type { WriteJob } from "./runs/write-job.ts";

/** In PostgreSQL, nobody else takes them until this transaction is over. */
const HELD = dialectal(sql``, () => sql`for update`);

/** Marks the inputs that new responses take. Returns the responses whose inputs another response has taken. */
export async function takeSteers(db: Kysely<Database>, jobs: readonly WriteJob[]): Promise<ReadonlySet<string>> {
  const lateIds = new Set<string>();
  for (const job of jobs.filter(takesInput)) {
    if (await areFree(db, job.steers)) await mark(db, job.steers, job.responseId);
    else lateIds.add(job.responseId);
  }
  return lateIds;
}

async function areFree(db: Kysely<Database>, { responseId, ids }: TakenSteers): Promise<boolean> {
  const { rows } = await sql`select number from steers where response_id = ${responseId} and id in (${sql.join(ids)})
    and state in ('accepted', 'pending') ${HELD}`.execute(db);
  return rows.length === ids.length;
}

async function mark(db: Kysely<Database>, { responseId, ids, turn }: TakenSteers, successorId: string): Promise<void> {
  await sql`update steers set state = 'applied', successor_id = ${successorId}, turn = ${sql.lit(turn)}
    where response_id = ${responseId} and id in (${sql.join(ids)})`.execute(db);
  await db
    .updateTable("responses")
    .set({ successor_id: successorId })
    .where(isId("responses.id", responseId))
    .execute();
}
