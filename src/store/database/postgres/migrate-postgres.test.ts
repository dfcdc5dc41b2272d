import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { whyNoPostgres } from "../../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../../tests/services/services-of-run.ts";
import { COLUMNS } from "../columns.fixture.ts";
import { checkTables, migratePostgres, POSTGRES_MIGRATIONS } from "./migrate-postgres.ts";

/** What PostgreSQL calls the types of the schema. A vector is a list of numbers there. */
const TYPES: Readonly<Record<string, string>> = { ARRAY: "blob", bigint: "integer", bytea: "blob", text: "text" };

async function run(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
}

/** Programs that wait for others before they change an index. */
const WAITING = `select 1 from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%index concurrently%'`;

describe.skipIf(whyNoPostgres() !== undefined)("tables in PostgreSQL", () => {
  test("have the columns of the schema", async () => {
    const url = await databaseOfTest();
    await migratePostgres(url);
    const rows = await run(url, "select * from information_schema.columns where table_schema = 'public'");
    const found: Record<string, Record<string, string>> = {};
    for (const row of rows) {
      const table = String(row["table_name"]);
      const column = String(row["column_name"]);
      const type = TYPES[String(row["data_type"])] ?? String(row["data_type"]);
      (found[table] ??= {})[column] = `${type}${row["is_nullable"] === "YES" ? "?" : ""}`;
    }
    for (const [table, columns] of Object.entries(COLUMNS)) {
      for (const [column, type] of Object.entries(columns))
        expect(`${table}.${column} ${found[table]?.[column]?.replace("?", "")}`).toBe(
          `${table}.${column} ${type.replace("?", "")}`,
        );
    }
  });

  test("are made once by servers that start together", async () => {
    const url = await databaseOfTest();
    const ran = await Promise.all(Array.from({ length: 4 }, () => migratePostgres(url)));
    const all = Object.keys(POSTGRES_MIGRATIONS).length;
    expect(ran.filter((count) => count > 0)).toEqual([all]);
  });

  test("are only looked at where a server may not change them", async () => {
    const url = await databaseOfTest();
    await expect(checkTables({ url, timeoutMs: 5_000 })).rejects.toThrow("Run antiphon migrate");
    expect(await run(url, "select to_regclass('responses') as name")).toEqual([{ name: null }]);
    await migratePostgres(url);
    await checkTables({ url, timeoutMs: 5_000 });
  });

  test("of a newer program serve an older one until that one is named as too old", async () => {
    const url = await databaseOfTest();
    await migratePostgres(url);
    await run(url, "insert into migrations (name, timestamp) values ('9999-from-the-future', '')");
    expect(await migratePostgres(url)).toBe(0);
    await checkTables({ url, timeoutMs: 5_000 });
    await run(url, "update schema_compatibility set compatible_from = 9999");
    await expect(migratePostgres(url)).rejects.toThrow("too new");
    await expect(checkTables({ url, timeoutMs: 5_000 })).rejects.toThrow("too new");
  });

  test("wait for a table that a server uses, and let it go on meanwhile", async () => {
    const url = await databaseOfTest();
    await run(url, "create table migrations (name varchar(255) primary key, timestamp varchar(255) not null)");
    const server = new Client({ connectionString: url });
    await server.connect();
    await server.query("begin; lock table migrations in share mode");
    const migrated = migratePostgres(url);
    setTimeout(() => void server.query("rollback").then(() => server.end()), 500);
    expect(await migrated).toBe(Object.keys(POSTGRES_MIGRATIONS).length);
  });

  test("get a large index while servers go on writing, also if an earlier attempt was broken off", async () => {
    const url = await databaseOfTest();
    await migratePostgres(url);
    await run(url, "drop index responses_of_owner"); // It was built at once.
    const writers = [new Client({ connectionString: url }), new Client({ connectionString: url })];
    const [slow, quick] = writers;
    await Promise.all(writers.map((client) => client.connect()));
    await slow?.query("begin; update responses set status = status");
    const brokenOff = new Client({ connectionString: url });
    await brokenOff.connect();
    await brokenOff.query("set lock_timeout = 100");
    await expect(
      brokenOff.query("create index concurrently responses_of_owner on responses (organization)"),
    ).rejects.toThrow("lock timeout");
    await brokenOff.end();
    const migrated = migratePostgres(url);
    await expect.poll(() => run(url, WAITING)).toHaveLength(1);
    await quick?.query("set lock_timeout = 1000; update responses set status = status");
    await slow?.query("commit");
    expect(await migrated).toBe(0);
    expect(await run(url, "select indisvalid from pg_index where indexrelid = 'responses_of_owner'::regclass")).toEqual(
      [{ indisvalid: true }],
    );
    await Promise.all(writers.map((client) => client.end()));
  });
});
