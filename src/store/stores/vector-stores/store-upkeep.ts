import { type Kysely, sql } from "kysely";
import { dialectal } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { chunkKey } from "../../search/chunk-keys.ts";
import { compileAll } from "./compile-all.ts";

/** The number of stores that expire per step. */
const STORES_AT_ONCE_MAX = 20;
/** The number of chunks erased per step: some milliseconds of the store thread. */
const CHUNKS_AT_ONCE_MAX = 100;

/** The key column in the index of words. */
const WORDS_KEY = dialectal(sql`rowid`, () => sql`key`);

type Calls = Pick<DatabaseCalls, "transact">;

/** Marks stores as expired. Their files stay listed, and their chunks are erased. False if there were none. */
export async function expireSome(db: Kysely<Database>, calls: Calls, now: number): Promise<boolean> {
  const due = await db
    .selectFrom("vector_stores")
    .select("number")
    .where(sql<boolean>`is_expired = 0`) // Not a parameter, which would prevent use of the index.
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .limit(STORES_AT_ONCE_MAX)
    .execute();
  for (const { number } of due) {
    const expiry = sql`update vector_stores set is_expired = 1
      where number = ${number} and is_expired = 0 and expires_at <= ${now}`;
    const cancellation = sql`update vector_store_files set status = 'cancelled', worker = null
      where store_number = ${number} and status = 'in_progress'`;
    const removal = sql`insert into vector_store_removals (file_number)
      select number from vector_store_files where store_number = ${number} on conflict do nothing`;
    await calls.transact(compileAll(db, [expiry, cancellation, removal]));
  }
  return due.length > 0;
}

/** Erases some chunks of removed files. False if there are none. */
export async function eraseSome(db: Kysely<Database>, calls: Calls): Promise<boolean> {
  const file = await db.selectFrom("vector_store_removals").select("file_number").limit(1).executeTakeFirst();
  if (file === undefined) return false;
  await eraseChunks(db, calls, file.file_number);
  await db.deleteFrom("vector_store_removals").where("file_number", "=", file.file_number).execute();
  return true;
}

/** Erases the stored chunks of a file, in steps. */
export async function eraseChunks(db: Kysely<Database>, calls: Calls, fileNumber: number): Promise<void> {
  const models = await db.selectFrom("vector_models").select("number").execute();
  for (;;) {
    const rows = await db
      .selectFrom("vector_store_chunks")
      .select("key")
      .where("key", ">=", chunkKey(fileNumber, 0))
      .where("key", "<", chunkKey(fileNumber + 1, 0))
      .orderBy("key")
      .limit(CHUNKS_AT_ONCE_MAX)
      .execute();
    const first = rows[0]?.key;
    const last = rows.at(-1)?.key;
    if (first === undefined || last === undefined) return;
    await calls.transact(
      compileAll(db, [
        sql`delete from vector_store_chunks where key between ${first} and ${last}`,
        sql`delete from vector_store_words where ${WORDS_KEY} between ${first} and ${last}`,
        ...models.map(
          ({ number }) =>
            sql`delete from vector_store_vectors where model_number = ${number} and key between ${first} and ${last}`,
        ),
      ]),
    );
  }
}
