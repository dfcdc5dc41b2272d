import { type Kysely, sql } from "kysely";
import type { Database } from "../schema.ts";

/**
 * Indexes that were added to tables which may be large by then, with what each is on. A migration would stop all writes
 * while it builds one. These are built beside the servers at work, which do without them until then.
 */
export const LARGE_INDEXES: Readonly<Record<string, string>> = {
  // Lists go through it in order, and statistics read nothing else.
  responses_of_owner: `responses (organization, project, created_at, number)
    include (status, model, input_tokens, output_tokens, duration_ms, first_text_ms)`,
  // Lists of the responses that continue another go through it in order.
  responses_continued: `responses (
    (right(previous_response_id, 32) || left(previous_response_id, -32)), created_at, number)
    where previous_response_id is not null`,
};

/** Number of a lock that is on no row. */
const BUILDING_LOCK = 1_160_002;

/** Builds those that are missing, or that somebody began and did not end; nothing if another program is at it. */
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
  const found = new Set(rows.map(({ name }) => name));
  return Object.keys(LARGE_INDEXES).filter((name) => !found.has(name));
}
