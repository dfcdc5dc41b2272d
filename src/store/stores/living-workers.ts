import type { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import type { DatabaseCalls } from "../owner/database-calls.ts";

/** The numbers of the workers that live. What any other worker holds can be taken from it. */
export async function findLivingWorkers(
  db: Kysely<Database>,
  calls: Pick<DatabaseCalls, "findDeadWorkers">,
): Promise<ReadonlySet<number>> {
  const dead = new Set(await calls.findDeadWorkers());
  const workers = await db.selectFrom("workers").select("id").execute();
  return new Set(workers.map(({ id }) => id).filter((id) => !dead.has(id)));
}
