import type { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import type { DatabaseCalls } from "../owner/database-calls.ts";

/** The numbers of the living workers. Everything held by other workers can be claimed. */
export async function findLivingWorkers(
  db: Kysely<Database>,
  calls: Pick<DatabaseCalls, "findDeadWorkers">,
): Promise<ReadonlySet<number>> {
  const dead = new Set(await calls.findDeadWorkers());
  const workers = await db.selectFrom("workers").select("id").execute();
  return new Set(workers.map(({ id }) => id).filter((id) => !dead.has(id)));
}
