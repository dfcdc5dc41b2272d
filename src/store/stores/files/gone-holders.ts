import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { findLivingWorkers } from "../living-workers.ts";

/** Dead workers that hold files of this table. If none holds any, this process is not registered as a worker either. */
export async function findGoneHolders(
  db: Kysely<Database>,
  calls: Pick<DatabaseCalls, "workerNumber" | "findDeadWorkers">,
  table: "files" | "container_files",
): Promise<readonly number[]> {
  const rows = await db.selectFrom(table).select("holder").distinct().where("holder", "is not", null).execute();
  const holders = rows.flatMap(({ holder }) => holder ?? []);
  if (holders.length === 0) return [];
  const own = await calls.workerNumber();
  const living = await findLivingWorkers(db, calls);
  return holders.filter((holder) => holder !== own && !living.has(holder));
}
