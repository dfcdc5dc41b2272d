import { Kysely, sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { whyNoPostgres } from "../../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../../tests/services/services-of-run.ts";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import type { Database } from "../schema.ts";
import { openPostgresPool } from "./connections.ts";
import { postgresDialect } from "./postgres-dialect.ts";

async function openDatabase(url: string): Promise<Kysely<Database>> {
  const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool({ url, timeoutMs: 5000 }, 1)) });
  onTestFinished(() => db.destroy());
  return db;
}

describe.skipIf(whyNoPostgres() !== undefined)("a connection to PostgreSQL", () => {
  test("may break between two statements of a transaction, and another takes its place", async () => {
    const url = await databaseOfTest();
    const db = await openDatabase(url);
    const other = await openDatabase(url);
    const broken = db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await sql`select pg_terminate_backend(${rows[0]?.pid}::integer, 5000)`.execute(other);
      await new Promise((resolve) => setTimeout(resolve, 100)); // The end of the connection arrives here.
      await sql`select 1`.execute(transaction);
    });
    await expect(broken).rejects.toBeInstanceOf(StoreBusy);
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });
});
