import { Kysely, sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { whyNoPostgres } from "../../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../../tests/services/services-of-run.ts";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import { openPostgresPool } from "./connections.ts";
import { postgresDialect } from "./postgres-dialect.ts";

interface Texts {
  readonly texts: { readonly id: number; readonly text: string };
}

async function openTexts(timeoutMs = 5_000) {
  const url = await databaseOfTest();
  const open = (): Kysely<Texts> => {
    const db = new Kysely<Texts>({ dialect: postgresDialect(openPostgresPool({ url, timeoutMs }, 1)) });
    onTestFinished(() => db.destroy());
    return db;
  };
  const db = open();
  await sql`create table texts (id bigint generated always as identity, text text)`.execute(db);
  return { db, other: open() };
}

describe.skipIf(whyNoPostgres() !== undefined)("PostgreSQL", () => {
  test.each(["a\0b", "\uE000", "\uE0000\0\uE0001", "ends with \uE000", "🎧\0"])("keeps the text %j", async (text) => {
    const { db } = await openTexts();
    await db.insertInto("texts").values({ text, id: sql`default` }).execute();
    await sql`insert into texts (text) select * from unnest(${sql.val([text])}::text[])`.execute(db);
    const rows = await db.selectFrom("texts").select("text").where("text", "=", text).execute();
    expect(rows).toEqual([{ text }, { text }]);
  });

  test("gives whole numbers and truth values as SQLite does", async () => {
    const { db } = await openTexts();
    const { rows } = await sql`select 9007199254740991::bigint as large, sum(1::bigint) as sum, true as yes, false as no
      from texts`.execute(db);
    expect(rows).toEqual([{ large: 9_007_199_254_740_991, sum: null, yes: 1, no: 0 }]);
    await expect(sql`select 9007199254740992::bigint as large`.execute(db)).rejects.toThrow("not too large");
  });

  test("answers a prepared statement also after a migration has added a column", async () => {
    const { db, other } = await openTexts();
    const all = () => db.selectFrom("texts").selectAll().execute();
    await all();
    await sql`alter table texts add column more text`.execute(other);
    expect(await all()).toEqual([]);
    await all(); // Prepares it on the connection that took the place of the first.
    await sql`alter table texts add column most text`.execute(other);
    const inTransaction = db
      .transaction()
      .execute((transaction) => transaction.selectFrom("texts").selectAll().execute());
    await expect(inTransaction).rejects.toThrow(StoreBusy);
    expect(await all()).toEqual([]);
  });

  test("prepares statements also when another database of this process has prepared as many as it may", async () => {
    const { db, other } = await openTexts();
    for (let number = 0; number < 400; number++) await sql`select 1 as ${sql.id(`one_${number}`)}`.execute(other);
    await sql`select 1 as its_own`.execute(db);
    const prepared = await sql`select statement from pg_prepared_statements where statement like '%as its_own'`.execute(
      db,
    );
    expect(prepared.rows).toEqual([{ statement: "select 1 as its_own" }]);
  });

  test("says that it is busy when a statement takes too long, and goes on", async () => {
    const { db } = await openTexts(200);
    await expect(sql`select pg_sleep(5)`.execute(db)).rejects.toThrow(StoreBusy);
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });
});
