import type { Owner } from "@antiphon/domain/owner.ts";
import { Kysely, sql } from "kysely";
import { openPostgresPool } from "../../database/postgres/connections.ts";
import { postgresDialect } from "../../database/postgres/postgres-dialect.ts";
import type { Database } from "../../database/schema.ts";
import { bytesSql, COUNTED, type Counted } from "../upkeep/count-usage.ts";

/** Only one process at a time installs triggers. */
const TRIGGERS_LOCK = 1_160_002;
/** The time limit of counting existing rows, in milliseconds. */
const COUNTING_MS = 3_600_000;
/** The number of changes that one step sums up. */
const FOLDED_AT_ONCE_MAX = 10_000;

/**
 * Installs permanent triggers that count the stored bytes of each owner. At first, counts the existing rows of each
 * table. Each change becomes a row: with one row per owner, commits would wait for each other.
 */
export async function countPostgresUsage(url: string): Promise<void> {
  const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool({ url, timeoutMs: COUNTING_MS }, 1)) });
  try {
    await db.transaction().execute(installTriggers);
  } finally {
    await db.destroy();
  }
}

async function installTriggers(transaction: Kysely<Database>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(TRIGGERS_LOCK)})`.execute(transaction);
  const { rows } = await sql<{ readonly name: string }>`
    select distinct tgname::text as name from pg_trigger where not tgisinternal`.execute(transaction);
  const triggers = new Set(rows.map(({ name }) => name));
  for (const entry of COUNTED)
    if (!triggers.has(`${entry.table}_usage_added`))
      for (const statement of triggersOf(entry)) await sql.raw(statement).execute(transaction);
}

/** Sums up the changes of this owner, so that there are fewer rows. */
export async function foldUsage(db: Kysely<Database>, { organization, project }: Owner): Promise<void> {
  await sql`
    with folded as (
      delete from owner_usage_changes where number in (
        select number from owner_usage_changes where organization = ${organization} and project = ${project}
          order by number limit ${sql.lit(FOLDED_AT_ONCE_MAX)} for update skip locked)
      returning bytes)
    insert into owner_usage (organization, project, bytes)
      select ${organization}, ${project}, sum(bytes) from folded having count(*) > 0
      on conflict (organization, project) do update set bytes = owner_usage.bytes + excluded.bytes`.execute(db);
}

function triggersOf({ table, columns, size }: Counted): readonly string[] {
  const bytes = bytesSql(columns, size);
  const change = (from: string): string => `insert into owner_usage_changes (organization, project, bytes)
    select organization, project, sum(bytes) from (${from}) as changed group by organization, project
      having sum(bytes) <> 0;`;
  const additions = `select organization, project, ${bytes} as bytes from added`;
  const removals = `select organization, project, -(${bytes}) as bytes from removed`;
  const kinds = [
    { name: `${table}_usage_added`, event: "insert", tables: "new table as added", change: change(additions) },
    {
      name: `${table}_usage_changed`,
      event: "update",
      tables: "old table as removed new table as added",
      change: change(`${additions} union all ${removals}`),
    },
    { name: `${table}_usage_removed`, event: "delete", tables: "old table as removed", change: change(removals) },
  ];
  return [
    ...kinds.flatMap(({ name, event, tables, change: body }) => [
      `create or replace function ${name}() returns trigger language plpgsql as $$
        begin ${body} return null; end $$`,
      `create trigger ${name} after ${event} on ${table} referencing ${tables}
        for each statement execute function ${name}()`,
    ]),
    change(`select organization, project, ${bytes} as bytes from ${table}`),
  ];
}
