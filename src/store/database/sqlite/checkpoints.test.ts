import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Kysely, sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFile } from "../../store.fixture.ts";
import { Checkpoints } from "./checkpoints.ts";
import { sqliteDialect } from "./sqlite.ts";

const LARGE = 12_000_000;

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

async function storedLengths(db: Kysely<unknown>): Promise<readonly number[]> {
  const { rows } = await sql<{ length: number }>`select length(text) as length from texts`.execute(db);
  return rows.map(({ length }) => length);
}

test("commits leave the copying of their log to a thread", async () => {
  const file = temporaryFile();
  const db = openDatabase(file);
  await sql`create table texts (text text)`.execute(db);
  const { rows } = await sql<{ wal_autocheckpoint: number }>`pragma wal_autocheckpoint`.execute(db);
  expect(rows).toEqual([{ wal_autocheckpoint: 0 }]);
  await db.transaction().execute(async (transaction) => {
    await store(transaction, LARGE / 2);
    await store(transaction, LARGE / 2);
  });
  await expect.poll(() => statSync(file).size, { timeout: 20_000 }).toBeGreaterThan(LARGE);
  expect(await storedLengths(db)).toEqual([LARGE / 2, LARGE / 2]);
});

test("many small commits are copied, too", async () => {
  const file = temporaryFile();
  const db = openDatabase(file);
  await sql`create table texts (text text)`.execute(db);
  for (let commit = 0; commit < 1_100; commit += 1) await store(db, 1_000);
  await expect.poll(() => statSync(file).size, { timeout: 20_000 }).toBeGreaterThan(250 * 1_000);
});

test("a log that grew over its limit is started again, so that it does not grow on", async () => {
  const file = temporaryFile();
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; create table texts (text text)");
  const checkpoints = new Checkpoints(database, file, { logPagesMax: 10 });
  const copiedBytes = (): number => {
    checkpoints.afterTransaction(); // The thread may have been busy after the last one.
    return statSync(file).size;
  };
  const commit = async (round: number): Promise<void> => {
    const text = "x".repeat(LARGE);
    database.exec("begin immediate");
    checkpoints.afterTransaction(); // Nothing can be copied within a transaction.
    checkpoints.beforeStatement([text]);
    database.prepare("insert into texts values (?)").run(text);
    database.exec("commit");
    checkpoints.afterTransaction();
    await expect.poll(copiedBytes, { timeout: 20_000 }).toBeGreaterThan(round * LARGE);
  };
  for (let round = 1; round <= 4; round += 1) await commit(round);
  expect(statSync(`${file}-wal`).size).toBeLessThan(2.5 * LARGE);
  await checkpoints.close();
  database.close();
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
