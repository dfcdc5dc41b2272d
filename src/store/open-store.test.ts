import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { COLUMNS } from "./database/columns.fixture.ts";
import type { Database } from "./database/schema.ts";
import { migrate } from "./database/sqlite/migrate.ts";
import { sqliteDialect } from "./database/sqlite/sqlite.ts";
import { openStore } from "./open-store.ts";
import { openTestStore, readAll, storeRun, temporaryFile } from "./store.fixture.ts";
import { aKey, OURS } from "./stored-shapes.fixture.ts";
import { textEvents } from "./stores/runs/text-events.fixture.ts";

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test.each([
  ["normal", 1],
  ["full", 2],
] as const)("with %s commits, SQLite is told so", async (sync, level) => {
  verifies("state.store.sync-setting");
  const db = new Kysely<Database>({
    dialect: sqliteDialect(temporaryFile(), { lockWaitMs: 0, sync, onSpoilt: () => {} }),
  });
  const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(db);
  expect(rows).toEqual([{ synchronous: level }]);
  await db.destroy();
});

test("the tables are what the schema says", async () => {
  const db = new Kysely<Database>({
    dialect: sqliteDialect(":memory:", { lockWaitMs: 0, sync: "normal", onSpoilt: () => {} }),
  });
  await migrate(db);
  const tables = (await db.introspection.getTables()).filter(
    (table) => !/^(migrations|vector_store_word)/.test(table.name),
  );
  const columnsOf = (table: (typeof tables)[number]) =>
    table.columns.map((column) => [column.name, `${column.dataType.toLowerCase()}${column.isNullable ? "?" : ""}`]);
  expect(Object.fromEntries(tables.map((table) => [table.name, Object.fromEntries(columnsOf(table))]))).toEqual(
    COLUMNS,
  );
  await db.destroy();
});

test("everything is there after a restart", async () => {
  const file = temporaryFile();
  const first = await openStore({ file });
  await storeRun(first.events, "resp_1", { input: ["msg_1"], output: ["msg_2"], eventCount: 300 });
  const key = await first.keys.addKey(aKey("hash", OURS));
  await first.close();

  const { events, responses, keys } = await openTestStore({ file });
  expect(await readAll(events, "resp_1")).toEqual(textEvents(0, 300));
  expect((await responses.findResponse(OURS, "resp_1"))?.status).toBe("completed");
  expect([...(await responses.findItems(OURS, ["msg_1", "msg_2"])).keys()].toSorted()).toEqual(["msg_1", "msg_2"]);
  expect(await keys.findByHash("hash")).toEqual(key);
});

test("closing stores what was still waiting", async () => {
  const file = temporaryFile();
  const first = await openStore({ file, commitIntervalMs: 60_000 });
  const stored = storeRun(first.events, "resp_1", { eventCount: 5 });
  const closed = first.close();
  await expect(stored).rejects.toThrow("closed"); // Its second step runs after the store was closed.
  await closed;
  const { responses } = await openTestStore({ file });
  expect((await responses.findResponse(OURS, "resp_1"))?.status).toBe("in_progress");
});

test("only this user can read the database, its log and the folder made for it", async () => {
  const file = temporaryFile();
  await openTestStore({ file });
  expect([dirname(file), file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual(["700", "600", "600", "600"]);
});

test("a store in memory works like one in a file", async () => {
  const { events } = await openTestStore({ file: ":memory:" });
  await storeRun(events, "resp_1", { eventCount: 300 });
  expect(await readAll(events, "resp_1", 250)).toEqual(textEvents(251, 49));
});

test("a database made by a newer program is refused", async () => {
  const file = temporaryFile();
  await (await openStore({ file })).close();
  const database = new DatabaseSync(file);
  database.exec("insert into migrations (name, timestamp) values ('9999-from-the-future', '')");
  database.close();
  await expect(openStore({ file })).rejects.toThrow("could not be migrated");
});

test("processes that start together on a new database all come up", async () => {
  verifies("state.start.together");
  const file = temporaryFile();
  const program = fileURLToPath(new URL("open-at-once.fixture.ts", import.meta.url));
  const at = String(Date.now() + 2_000); // Late enough for each process to have loaded its modules.
  const run = () => promisify(execFile)(process.execPath, [program, file, at]);
  const outputs = await Promise.all(Array.from({ length: 5 }, run));
  expect(outputs.map(({ stdout }) => stdout.trim())).toEqual(outputs.map(() => "opened"));
});
