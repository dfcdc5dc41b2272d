import { type Kysely, sql } from "kysely";
import { SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { ContainerFileWriter } from "./container-file-writer.ts";

/** The number of containers that one step handles. */
const CONTAINERS_AT_ONCE_MAX = 20;
/** How long an expired container remains visible. */
const SHOWN_SECONDS = 86_400;

/** Marks containers as expired, so that no use can postpone it any more. False if there were none. */
export async function expireContainers(db: Kysely<Database>, now: number): Promise<boolean> {
  const due = db
    .selectFrom("containers")
    .select("number")
    .where(sql<boolean>`state = 'running'`) // Not a parameter, which would prevent use of the index.
    .where("expires_at", "<=", now)
    .limit(CONTAINERS_AT_ONCE_MAX)
    .modifyEnd(SKIP_LOCKED);
  const { numUpdatedRows } = await db
    .updateTable("containers")
    .set({ state: "expired" })
    .where("number", "in", due)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Removes the files of expired and deleted containers, and the rows of deleted ones. The next sweep continues if the
 * process dies. False if there were none.
 */
export async function emptyContainers(
  db: Kysely<Database>,
  writer: Pick<ContainerFileWriter, "removeAll">,
): Promise<boolean> {
  const containers = await db
    .selectFrom("containers")
    .select(["id", "number"])
    .where(sql<boolean>`state <> 'running'`)
    .where(sql<boolean>`is_emptied = 0`)
    .limit(CONTAINERS_AT_ONCE_MAX)
    .execute();
  for (const { id, number } of containers) {
    await writer.removeAll(id);
    await db.deleteFrom("containers").where("number", "=", number).where("state", "=", "deleted").execute();
    await db
      .updateTable("containers")
      .set({ is_emptied: 1 })
      .where("number", "=", number)
      .where("state", "=", "expired")
      .execute();
  }
  return containers.length > 0;
}

/** Removes the rows of containers that expired long ago. False if there were none. */
export async function forgetContainers(db: Kysely<Database>, now: number): Promise<boolean> {
  const old = db
    .selectFrom("containers")
    .select("number")
    .where(sql<boolean>`is_emptied = 1`)
    .where("expires_at", "<=", now - SHOWN_SECONDS)
    .limit(CONTAINERS_AT_ONCE_MAX);
  const { numDeletedRows } = await db.deleteFrom("containers").where("number", "in", old).executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
