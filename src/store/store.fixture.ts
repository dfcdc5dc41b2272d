import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Owner } from "@antiphon/domain/owner.ts";
import { Client } from "pg";
import { onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../tests/kit/temporary-folder.ts";
import { whyNoPostgres } from "../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../tests/services/services-of-run.ts";
import type { EventLog } from "../runs/ports/event-log.ts";
import type { RecordedEvent } from "../runs/recorded-event.ts";
import { migratePostgres } from "./database/postgres/migrate-postgres.ts";
import { READ_AS_SQLITE } from "./database/postgres/postgres-values.ts";
import { assembleStore, databaseOptions, openStore, type Store, type StoreOptions } from "./open-store.ts";
import { SqliteOwner } from "./owner/thread/sqlite-owner.ts";
import { freePlace, takePlace } from "./owner/workers/own-workers.ts";
import { anItem, aResponse, OURS } from "./stored-shapes.fixture.ts";
import { textEvents } from "./stores/runs/text-events.fixture.ts";

/** A path for a database in a new folder, which is removed after the test. */
export function temporaryFile(): string {
  const folder = temporaryFolder();
  return join(folder, "data", "antiphon.db");
}

/** The database of the running test. */
let current: "SQLite" | "PostgreSQL" = "SQLite";
/** PostgreSQL databases that represent the files of a test. */
const databases = new Map<string, Promise<string>>();

/**
 * A test of the behaviour that both databases share: runs once on each. A path of `temporaryFile` represents a database
 * of its own. If PostgreSQL cannot be started, its run is skipped with the reason.
 */
export function testStores(name: string, run: () => Promise<void>): void {
  test(name, () => onDatabase("SQLite", run));
  test.skipIf(isSkipped())(inPostgres(name), () => onDatabase("PostgreSQL", run));
}

/** The same for each case, like `test.each`. */
testStores.each = <const Case>(cases: readonly Case[]) => {
  return (name: string, run: (given: Case) => Promise<void>): void => {
    test.each([...cases])(name, (given) => onDatabase("SQLite", () => run(given)));
    test.skipIf(isSkipped()).each([...cases])(inPostgres(name), (given) => onDatabase("PostgreSQL", () => run(given)));
  };
};

/** Whether the test runs on PostgreSQL. */
export function isPostgres(): boolean {
  return current === "PostgreSQL";
}

function isSkipped(): boolean {
  return whyNoPostgres() !== undefined;
}

function inPostgres(name: string): string {
  const why = whyNoPostgres();
  return `${name} (PostgreSQL${why === undefined ? "" : `: ${why}`})`;
}

async function onDatabase(database: typeof current, run: () => Promise<void>): Promise<void> {
  current = database;
  try {
    await run();
  } finally {
    current = "SQLite";
  }
}

export async function openTestStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore(await withDatabase({ file: temporaryFile(), ...options }));
  onTestFinished(() => store.close());
  return store;
}

/** A store whose changes all wait for their commit. */
export function openCommittingStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  return openTestStore({ usesRedoLog: false, ...options });
}

/** The options of a store on this test's database. */
export async function withDatabase(options: StoreOptions): Promise<StoreOptions> {
  if (current === "SQLite") return options;
  return { ...options, databaseUrl: await databaseFor(options.file) };
}

function databaseFor(file: string): Promise<string> {
  const known = databases.get(file) ?? databaseOfTest(TEMPLATE);
  databases.set(file, known);
  return known;
}

const TEMPLATE = { name: "antiphon_stores", prepare: async (url: string) => void (await migratePostgres(url)) };

/** Runs SQL beside the store of the database at this path. Values are `?` in it. */
export async function runSql(
  file: string,
  text: string,
  ...values: readonly (string | number)[]
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (current === "PostgreSQL") return await runInPostgres(await databaseFor(file), text, values);
  const database = new DatabaseSync(file);
  try {
    return database.prepare(text).all(...values);
  } finally {
    database.close();
  }
}

/** Makes every insert into the table fail with "refused". */
export async function refuseInserts(file: string, table: string): Promise<void> {
  const trigger = `create trigger refuse_${table} before insert on ${table}`;
  if (current === "SQLite") return void (await runSql(file, `${trigger} begin select raise(abort, 'refused'); end`));
  await runSql(
    file,
    `create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
  );
  await runSql(file, `${trigger} for each row execute function refuse()`);
}

export async function allowInserts(file: string, table: string): Promise<void> {
  await runSql(file, `drop trigger refuse_${table}${current === "SQLite" ? "" : ` on ${table}`}`);
}

async function runInPostgres(url: string, text: string, values: readonly unknown[]) {
  const client = new Client({ connectionString: url, types: READ_AS_SQLITE });
  await client.connect();
  try {
    let place = 0;
    const { rows } = await client.query<Record<string, unknown>>(
      text.replaceAll("?", () => `$${(place += 1)}`),
      [...values],
    );
    return rows;
  } finally {
    await client.end();
  }
}

/** A store whose database is in this thread, so that a test's fake time applies to it. */
export async function openStoreInThisThread(options: Partial<StoreOptions> = {}): Promise<Store> {
  const all = { file: temporaryFile(), ...options };
  const own = takePlace();
  const store = await assembleStore(await SqliteOwner.open(databaseOptions(all), own), all);
  onTestFinished(async () => {
    await store.close();
    freePlace(own);
  });
  return store;
}

/** Stores a whole run. */
export async function storeRun(
  events: EventLog,
  id: string,
  run: {
    owner?: Owner;
    previous?: string;
    input?: readonly string[];
    output?: readonly string[];
    eventCount?: number;
  } = {},
): Promise<void> {
  const fields = { previous_response_id: run.previous ?? null };
  await events.open(
    {
      owner: run.owner ?? OURS,
      response: aResponse(id, fields),
      inputItems: (run.input ?? []).map((item) => anItem(item, `in ${id}`)),
    },
    [],
  );
  const response = aResponse(id, { ...fields, status: "completed", completed_at: 1_760_000_009 });
  await events.close(id, textEvents(0, run.eventCount ?? 1), {
    response,
    outputItems: (run.output ?? []).map((item) => anItem(item, `out ${id}`)),
  });
}

export async function readAll(events: EventLog, responseId: string, after = -1): Promise<readonly RecordedEvent[]> {
  const all: RecordedEvent[] = [];
  for await (const batch of events.read(responseId, after)) all.push(...batch);
  return all;
}

export async function readNumbers(events: EventLog, responseId: string, after = -1): Promise<readonly number[]> {
  return (await readAll(events, responseId, after)).map((event) => event.number);
}

/** The numbers from `first` to `last`, inclusive. */
export function numbersFrom(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
