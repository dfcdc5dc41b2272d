import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { inject, onTestFinished, TestRunner } from "vitest";
import { migratePostgres } from "../../src/store/database/postgres/migrate-postgres.ts";
import { READ_AS_SQLITE } from "../../src/store/database/postgres/postgres-values.ts";
import { dropDatabase } from "../services/databases.ts";
import { databaseOfTest } from "../services/services-of-run.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the servers of a project's tests keep their rows. */
    testedStore: "SQLite" | "PostgreSQL";
  }
}

export type Row = Readonly<Record<string, unknown>>;

/** Whether this project tries PostgreSQL. */
export const onPostgres = inject("testedStore") === "PostgreSQL";

const LOCK_MS_MAX = 5_000;
const TEMPLATE = { name: "antiphon_servers", prepare: migratePostgres };
/** The databases that stand beside data folders, by their paths. */
const databases = new Map<string, Promise<string>>();

/** Settings that make a server with this data folder keep its rows in the store that this project tries. */
export async function storeSettings(dataDir: string): Promise<Readonly<Record<string, string>>> {
  return onPostgres ? { DATABASE_URL: await databaseOf(dataDir) } : {};
}

/**
 * The database of a data folder; a new one the first time. It goes at the end of the test, or by `forgetDatabase` if it
 * was made outside of a test, or in one of several that run at once: then nobody knows whose it is.
 */
function databaseOf(dataDir: string): Promise<string> {
  const folder = resolve(dataDir);
  const known = databases.get(folder);
  if (known !== undefined) return known;
  const made = databaseOfTest(TEMPLATE, () => undefined);
  databases.set(folder, made);
  const test = TestRunner.getCurrentTest();
  if (test !== undefined && test.concurrent !== true) onTestFinished(() => forgetDatabase(folder));
  return made;
}

/** Removes the database of a data folder, if there is one. */
export async function forgetDatabase(dataDir: string): Promise<void> {
  const folder = resolve(dataDir);
  const known = databases.get(folder);
  databases.delete(folder);
  if (known !== undefined) await dropDatabase(await known);
}

/** Runs a statement on the database of a data folder, beside its servers. Values stand as `?` in it. */
export async function query(dataDir: string, sql: string, ...values: readonly (string | number)[]): Promise<Row[]> {
  if (onPostgres) return await queryPostgres(await databaseOf(dataDir), sql, values);
  const database = new DatabaseSync(join(dataDir, "antiphon.db"), { timeout: LOCK_MS_MAX });
  try {
    return database.prepare(sql).all(...values);
  } finally {
    database.close();
  }
}

async function queryPostgres(url: string, sql: string, values: readonly (string | number)[]): Promise<Row[]> {
  const client = new Client({ connectionString: url, types: READ_AS_SQLITE });
  await client.connect();
  try {
    let place = 0;
    const { rows } = await client.query<Row>(
      sql.replaceAll("?", () => `$${++place}`),
      [...values],
    );
    return rows;
  } finally {
    await client.end();
  }
}

/** From now on the database of a data folder refuses these writes to its table of responses. */
export async function refuseResponses(dataDir: string, on: "insert" | "update", status?: string): Promise<void> {
  const trigger = `create trigger full_table before ${on} on responses`;
  const when = status === undefined ? "" : `when (new.status = '${status}')`;
  if (!onPostgres) return void (await query(dataDir, `${trigger} ${when} begin select raise(abort, 'full'); end`));
  await query(dataDir, "create function refuse() returns trigger language plpgsql as $$ begin raise 'full'; end $$");
  await query(dataDir, `${trigger} for each row ${when} execute function refuse()`);
}

/** Ends `refuseResponses`. */
export async function takeResponses(dataDir: string): Promise<void> {
  await query(dataDir, `drop trigger full_table${onPostgres ? " on responses" : ""}`);
}
