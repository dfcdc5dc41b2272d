import { type Kysely, sql } from "kysely";
import type { Database } from "../schema.ts";

/**
 * Indexes added to tables that may be large, with their definitions. Building one in a migration would stop all writes.
 * These are built while servers run, which work without them until then.
 */
export const LARGE_INDEXES: Readonly<Record<string, string>> = {
  // Lists read it in order, and statistics read nothing else.
  responses_of_owner: `responses (organization, project, created_at, number)
    include (status, model, input_tokens, output_tokens, duration_ms, first_text_ms)`,
  // Lists of a response's continuations read it in order.
  responses_continued: `responses (
    (right(previous_response_id, 32) || left(previous_response_id, -32)), created_at, number)
    where previous_response_id is not null`,
};

/** The number of a lock that is not on a row. */
const BUILDING_LOCK = 1_160_002;

/** Builds missing and unfinished indexes; does nothing if another program is building. */
export async function buildLargeIndexes(db: Kysely<Database>): Promise<void> {
  await db.connection().execute(async (connection) => {
    if ((await findMissing(connection)).length === 0) return;
    const { rows } = await sql<{ readonly is_ours: number }>`
      select pg_try_advisory_lock(${BUILDING_LOCK}::bigint)::int as is_ours`.execute(connection);
    if (rows[0]?.is_ours !== 1) return;
    try {
      for (const name of await findMissing(connection)) {
        await sql`drop index concurrently if exists ${sql.ref(name)}`.execute(connection);
        await sql.raw(`create index concurrently ${name} on ${LARGE_INDEXES[name]}`).execute(connection);
      }
    } finally {
      await sql`select pg_advisory_unlock(${BUILDING_LOCK}::bigint)`.execute(connection);
    }
  });
}

async function findMissing(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly name: string }>`
    select relname as name from pg_class join pg_index on indexrelid = pg_class.oid
    where indisvalid and relnamespace = current_schema()::regnamespace`.execute(db);
  const names = new Set(rows.map(({ name }) => name));
  return Object.keys(LARGE_INDEXES).filter((name) => !names.has(name));
}
