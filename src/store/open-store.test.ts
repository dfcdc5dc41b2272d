import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { migrate } from "./database/migrate.ts";
import type { Database } from "./database/schema.ts";
import { sqliteDialect } from "./database/sqlite.ts";
import { openStore } from "./open-store.ts";
import { textEvents } from "./runs/text-events.fixture.ts";
import { openTestStore, readAll, storeRun, temporaryFile } from "./store.fixture.ts";
import { aKey, OURS } from "./stored-shapes.fixture.ts";

/** Compiles only if it names every table and column of the schema. */
const COLUMNS: {
  readonly [Table in keyof Database]: {
    readonly [Column in keyof Database[Table]]: "text" | "integer" | "blob" | "text?" | "integer?";
  };
} = {
  responses: {
    number: "integer",
    id: "text",
    organization: "text",
    project: "text",
    status: "text",
    model: "text",
    previous_response_id: "text?",
    created_at: "integer",
    completed_at: "integer?",
    body: "text",
    version: "integer",
    worker: "integer?",
    task: "text?",
    streamed: "integer",
    stop_asked: "integer",
    restarts: "integer",
    conversation_id: "text?",
    conversation_seen: "integer?",
  },
  ancestors: {
    number: "integer",
    id: "text",
    organization: "text",
    project: "text",
    status: "text",
    previous_response_id: "text?",
    conversation_id: "text?",
    conversation_seen: "integer?",
    is_unused: "integer",
  },
  vector_models: { number: "integer?", name: "text", dimensions: "integer" },
  vector_stores: {
    number: "integer?",
    id: "text",
    organization: "text",
    project: "text",
    name: "text",
    description: "text?",
    metadata: "text",
    created_at: "integer",
    last_active_at: "integer",
    expires_after_days: "integer?",
    expires_at: "integer?",
    is_expired: "integer",
    model_number: "integer?",
  },
  vector_store_batches: {
    number: "integer?",
    id: "text",
    store_number: "integer",
    created_at: "integer",
    is_cancelled: "integer",
  },
  vector_store_files: {
    number: "integer?",
    store_number: "integer",
    file_id: "text",
    organization: "text",
    project: "text",
    filename: "text",
    created_at: "integer",
    status: "text",
    error: "text?",
    attributes: "text?",
    chunking: "text",
    usage_bytes: "integer",
    batch_number: "integer?",
    worker: "integer?",
    attempts: "integer",
    chunk_count: "integer",
    word_count: "integer",
    model_number: "integer?",
  },
  vector_store_chunks: {
    key: "integer?",
    text: "text",
    first: "integer",
    last: "integer",
    headings: "text",
    word_count: "integer",
  },
  vector_store_vectors: { model_number: "integer", key: "integer", vector: "blob" },
  vector_store_leftovers: { file_number: "integer?" },
  vector_store_removals: { file_number: "integer?" },
  deleted_conversations: { id: "text" },
  owner_usage: { organization: "text", project: "text", bytes: "integer" },
  split_calls: { conversation_id: "text", call_id: "text" },
  tool_exchanges: {
    item_id: "text",
    response_id: "text",
    organization: "text",
    project: "text",
    call_id: "text",
    name: "text",
    server: "text?",
    arguments: "text",
    effect: "text",
    output: "text?",
    parts: "text?",
    item: "text?",
    approval_request_id: "text?",
    created_at: "integer",
    turn: "integer",
    usage: "text?",
  },
  containers: {
    number: "integer?",
    id: "text",
    organization: "text",
    project: "text",
    name: "text",
    memory_limit: "text",
    created_at: "integer",
    last_active_at: "integer",
    expires_after_minutes: "integer",
    expires_at: "integer",
    state: "text",
    is_emptied: "integer",
    session_id: "text?",
    previous_session_id: "text?",
  },
  container_files: {
    number: "integer?",
    id: "text",
    container_id: "text",
    organization: "text",
    project: "text",
    path: "text",
    bytes: "integer",
    created_at: "integer",
    source: "text",
    upload_id: "text?",
    holder: "integer?",
  },
  tool_turns: { response_id: "text", organization: "text", project: "text", number: "integer", usage: "text" },
  items: {
    sequence: "integer",
    id: "text",
    response_number: "integer",
    organization: "text",
    project: "text",
    direction: "text",
    position: "integer",
    body: "text",
  },
  event_chunks: { response_number: "integer", first_number: "integer", last_number: "integer", body: "text" },
  files: {
    sequence: "integer",
    id: "text",
    organization: "text",
    project: "text",
    purpose: "text",
    filename: "text",
    mime_type: "text",
    bytes: "integer",
    created_at: "integer",
    expires_at: "integer?",
    holder: "integer?",
  },
  workers: { id: "integer", host: "text", pid: "integer", expires_at: "integer", started: "text?" },
  conversations: { id: "text", organization: "text", project: "text", created_at: "integer", metadata: "text" },
  conversation_items: {
    sequence: "integer",
    conversation_id: "text",
    id: "text",
    organization: "text",
    project: "text",
    body: "text",
  },
  conversation_locks: { conversation_id: "text", response_id: "text", worker: "integer" },
  event_journal: { worker: "integer", position: "integer", body: "text" },
  api_keys: {
    tools: "text?",
    id: "text",
    hash: "text",
    organization: "text",
    project: "text",
    name: "text",
    created_at: "integer",
    owners: "text?",
    last_four: "text",
    requests_per_minute: "integer?",
    tokens_per_minute: "integer?",
    expires_at: "integer?",
    revoked_at: "integer?",
  },
};

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
