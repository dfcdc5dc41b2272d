import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { whyNoPostgres } from "../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../tests/services/services-of-run.ts";
import { COLUMNS } from "../database/columns.fixture.ts";
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

describe.skipIf(whyNoPostgres() !== undefined)("tables in PostgreSQL", () => {
  test("have the columns of the schema", async () => {
    const url = await databaseOfTest();
    await migratePostgres(url);
    const rows = await run(url, "select * from information_schema.columns where table_schema = 'public'");
    const found: Record<string, Record<string, string>> = {};
    for (const row of rows) {
      const [table, column] = [String(row["table_name"]), String(row["column_name"])];
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
});
