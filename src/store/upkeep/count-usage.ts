import { type Kysely, sql } from "kysely";
import type { Database } from "../database/schema.ts";

/** What counts in each table: the text of a row, or the size of its file. */
const COUNTED = [
  { table: "responses", column: "body", size: "octet_length" },
  { table: "items", column: "body", size: "octet_length" },
  { table: "conversation_items", column: "body", size: "octet_length" },
  { table: "files", column: "bytes", size: "abs" },
] as const;

/**
 * Installs triggers that count the bytes stored for each owner, permanently. The first time, counts everything that is
 * stored.
 */
export async function countUsage(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const { rows } =
      await sql`select 1 from sqlite_schema where type = 'trigger' and name = 'responses_usage_added'`.execute(
        transaction,
      );
    if (rows.length > 0) return;
    for (const counted of COUNTED) await countTable(transaction, counted);
  });
}

async function countTable(db: Kysely<Database>, { table, column, size }: (typeof COUNTED)[number]): Promise<void> {
  const add = (owner: string, bytes: string): string =>
    `insert into owner_usage (organization, project, bytes) values (${owner}.organization, ${owner}.project, ${bytes})
      on conflict (organization, project) do update set bytes = bytes + excluded.bytes`;
  const [before, after] = [`${size}(old.${column})`, `${size}(new.${column})`];
  const statements = [
    `create trigger ${table}_usage_added after insert on ${table} begin ${add("new", after)}; end`,
    `create trigger ${table}_usage_changed after update of ${column} on ${table} begin ${add("new", `${after} - ${before}`)}; end`,
    `create trigger ${table}_usage_removed after delete on ${table} begin ${add("old", `-${before}`)}; end`,
    `insert into owner_usage (organization, project, bytes)
      select organization, project, sum(${size}(${column})) from ${table} where true group by organization, project
      on conflict (organization, project) do update set bytes = bytes + excluded.bytes`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
