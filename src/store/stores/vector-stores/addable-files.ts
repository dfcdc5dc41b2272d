import type { Owner } from "@antiphon/domain/owner.ts";
import type { NewStoreFile, VectorStoreRefusal } from "@antiphon/domain/vector-stores.ts";
import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import { secondsNow } from "./store-statements.ts";

/** Below SQLite's limit on variables. */
const IDS_AT_ONCE_MAX = 500;

/** Why these files cannot be added, whatever the store; null if they can. `bytesMax` 0: no limit. */
export async function refuseFiles(
  db: Kysely<Database>,
  owner: Owner,
  files: readonly NewStoreFile[],
  bytesMax: number,
): Promise<VectorStoreRefusal | null> {
  const knownIds = new Set<string>();
  for (let start = 0; start < files.length; start += IDS_AT_ONCE_MAX)
    for (const id of await findUploads(db, owner, files.slice(start, start + IDS_AT_ONCE_MAX))) knownIds.add(id);
  const missing = files.find(({ fileId }) => !knownIds.has(fileId));
  if (missing !== undefined) return { reason: "unknown_file", fileId: missing.fileId };
  if (bytesMax === 0 || files.length === 0) return null;
  return (await usedBytes(db, owner)) >= bytesMax ? { reason: "full", bytesMax } : null;
}

async function findUploads(
  db: Kysely<Database>,
  owner: Owner,
  files: readonly NewStoreFile[],
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("files")
    .select("id")
    .where(
      "id",
      "in",
      files.map(({ fileId }) => fileId),
    )
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .where("holder", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", secondsNow())]))
    .execute();
  return rows.map(({ id }) => id);
}

async function usedBytes(db: Kysely<Database>, owner: Owner): Promise<number> {
  const row = await db
    .selectFrom("vector_store_files")
    .select((files) => files.fn.sum<number | null>("usage_bytes").as("bytes"))
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .executeTakeFirst();
  return row?.bytes ?? 0;
}
