import type { Kysely, RawBuilder } from "kysely";
import { TASK_VERSION } from "../../../runs/ports/event-log.ts";
import type { Database } from "../../database/schema.ts";
import { type OwnWorkers, setNumber } from "./own-workers.ts";
import { startOf } from "./worker-process.ts";

/**
 * Adds this process to the list of workers and returns its number. The number is known in this process before others
 * can see the row, because they take a worker of their own process for dead if no store has its number.
 */
export async function registerWorker(
  db: Kysely<Database>,
  own: OwnWorkers,
  { host, expiresAt }: { readonly host: string; readonly expiresAt: number | RawBuilder<number> },
): Promise<number> {
  const { pid } = process;
  const worker = { host, pid, started: startOf(pid), expires_at: expiresAt, task_version: TASK_VERSION };
  try {
    return await db.transaction().execute(async (transaction) => {
      const { id } = await transaction.insertInto("workers").values(worker).returning("id").executeTakeFirstOrThrow();
      setNumber(own, id);
      return id;
    });
  } catch (error) {
    setNumber(own, 0);
    throw error;
  }
}
