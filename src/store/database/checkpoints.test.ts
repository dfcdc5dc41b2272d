import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Kysely, sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFile } from "../store.fixture.ts";
import { sqliteDialect } from "./sqlite.ts";

const LARGE = 12_000_000;
const PAGES_USUAL = 1_000;
const PAGES_MAX = 64 * 1024;

function openDatabase(file: string): Kysely<unknown> {
  const db = new Kysely<unknown>({
    dialect: sqliteDialect(file, { lockWaitMs: 0, sync: "normal", onSpoilt: () => {} }),
  });
  onTestFinished(() => db.destroy());
  return db;
}

async function store(db: Kysely<unknown>, length: number): Promise<void> {
  await sql`insert into texts values (${"x".repeat(length)})`.execute(db);
}

/** How many pages the log may have before a commit copies it. */
async function logPagesMax(db: Kysely<unknown>): Promise<number | undefined> {
  const { rows } = await sql<{ wal_autocheckpoint: number }>`pragma wal_autocheckpoint`.execute(db);
  return rows[0]?.wal_autocheckpoint;
}

async function storedLengths(db: Kysely<unknown>): Promise<readonly number[]> {
  const { rows } = await sql<{ length: number }>`select length(text) as length from texts`.execute(db);
  return rows.map(({ length }) => length);
}

test("a large commit leaves the copying of its log to a thread", async () => {
  const file = temporaryFile();
  const db = openDatabase(file);
  await sql`create table texts (text text)`.execute(db);
  await db.transaction().execute(async (transaction) => {
    await store(transaction, LARGE / 2);
    expect(await logPagesMax(transaction)).toBe(PAGES_USUAL);
    await store(transaction, LARGE / 2);
    expect(await logPagesMax(transaction)).toBe(PAGES_MAX);
  });
  await expect.poll(() => logPagesMax(db), { timeout: 20_000 }).toBe(PAGES_USUAL);
  expect(statSync(file).size).toBeGreaterThan(LARGE);
  expect(await storedLengths(db)).toEqual([LARGE / 2, LARGE / 2]);
});

test("large commits while the thread works are copied, too", async () => {
  const file = temporaryFile();
  const db = openDatabase(file);
  await sql`create table texts (text text)`.execute(db);
  for (let commit = 0; commit < 4; commit += 1) await store(db, LARGE);
  await expect.poll(() => logPagesMax(db), { timeout: 20_000 }).toBe(PAGES_USUAL);
  expect(statSync(file).size).toBeGreaterThan(4 * LARGE);
});

test("closing waits for the thread, so that nothing is left beside the database", async () => {
  const file = temporaryFile();
  const db = openDatabase(file);
  await sql`create table texts (text text)`.execute(db);
  await store(db, LARGE);
  await db.destroy();
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(await storedLengths(openDatabase(file))).toEqual([LARGE]);
});

test("a process that is killed after a large commit loses nothing", async () => {
  const file = temporaryFile();
  const program = fileURLToPath(new URL("store-and-die.fixture.ts", import.meta.url));
  const [, signal] = await once(spawn(process.execPath, [program, file, String(LARGE)]), "exit");
  expect(signal).toBe("SIGKILL");
  expect(await storedLengths(openDatabase(file))).toEqual([LARGE]);
});

test("a database in memory has no log", async () => {
  const db = openDatabase(":memory:");
  await sql`create table texts (text text)`.execute(db);
  await store(db, LARGE);
  expect(await storedLengths(db)).toEqual([LARGE]);
});
