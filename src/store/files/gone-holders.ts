import type { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import { findLivingWorkers } from "../runs/living-workers.ts";
import type { DatabaseCalls } from "../thread/database-calls.ts";

/**
 * Workers that hold files and are dead. `listHolders` gives all that hold files. If there are none, this process is not
 * registered as a worker either.
 */
export async function findGoneHolders(
  db: Kysely<Database>,
  calls: Pick<DatabaseCalls, "workerNumber" | "findDeadWorkers">,
  listHolders: () => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const holders = await listHolders();
  if (holders.length === 0) return [];
  const own = await calls.workerNumber();
  const living = await findLivingWorkers(db, calls);
  return holders.filter((holder) => holder !== own && !living.has(holder));
}
