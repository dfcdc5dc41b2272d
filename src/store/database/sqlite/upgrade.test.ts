import { DatabaseSync } from "node:sqlite";
import { idFromStem, newIdStem } from "@antiphon/base/ids.ts";
import { StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { expect, test } from "vitest";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import { openStore } from "../../open-store.ts";
import { openTestStore, readNumbers, temporaryFile } from "../../store.fixture.ts";
import { anItem, aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { textEvents } from "../../stores/runs/text-events.fixture.ts";
import type { Database } from "../schema.ts";
import { MIGRATIONS } from "./migrate.ts";
import { sqliteDialect } from "./sqlite.ts";

const STEM = newIdStem(1_760_000_000);
const FIRST = idOf(0);
const DELETED = idOf(10);
const LAST = idOf(20);
const LIVE = idOf(30);

function idOf(counter: number, prefix = "resp"): string {
  return idFromStem(prefix, STEM, counter);
}

/** The database of a release whose items and events named their responses by id. */
async function olderDatabase(): Promise<string> {
  const file = temporaryFile();
  const db = new Kysely<Database>({
    dialect: sqliteDialect(file, { lockWaitMs: 0, sync: "normal", onSpoilt: () => {} }),
  });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
  });
  expect((await migrator.migrateTo("0009-owner-usage")).error).toBeUndefined();
  await db.destroy();
  return file;
}

const OWNER = [OURS.organization, OURS.project] as const;

class OlderRows {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
  }

  addResponse(id: string, previous: string | null, status: "completed" | "in_progress" = "completed"): void {
    const body = JSON.stringify(aResponse(id, { status, previous_response_id: previous }));
    this.#run(
      `insert into responses (id, organization, project, status, model, previous_response_id, created_at, body, version)
        values (?, ?, ?, ?, 'm', ?, 1760000000, ?, 1)`,
      [id, ...OWNER, status, previous, body],
    );
    this.#addItems(id);
    for (const first of [0, 2]) {
      const lines = textEvents(first, 2).map(({ json }) => json);
      this.#run("insert into event_chunks values (?, ?, ?, ?)", [id, first, first + 1, lines.join("\n")]);
    }
  }

  addAncestor(id: string, previous: string): void {
    this.#run("insert into ancestors values (?, ?, ?, 'completed', ?, null, null, 0)", [id, ...OWNER, previous]);
    this.#addItems(id);
  }

  /** One item of each direction. */
  #addItems(id: string): void {
    const counter = Number.parseInt(id.slice(-8), 16);
    for (const [index, direction] of ["output", "input"].entries()) {
      const item = anItem(idOf(counter + index + 1, "msg"), direction);
      this.#run(
        `insert into items (id, response_id, organization, project, direction, position, body) values (?, ?, ?, ?, ?, 0, ?)`,
        [item.id, id, ...OWNER, direction, JSON.stringify(item)],
      );
    }
  }

  #run(sql: string, values: readonly (string | number | null)[]): void {
    this.#database.prepare(sql).run(...values);
  }

  close(): void {
    this.#database.close();
  }
}

test("a database of an earlier release keeps its chains, items and events", async () => {
  const file = await olderDatabase();
  const rows = new OlderRows(file);
  rows.addResponse(FIRST, null);
  rows.addAncestor(DELETED, FIRST);
  rows.addResponse(LAST, DELETED);
  rows.addResponse(LIVE, LAST, "in_progress");
  rows.close();

  const { responses, events, ledger, expiry, erasure } = await openTestStore({ file });
  const chain = await responses.loadChain(OURS, LAST);
  expect(chain?.map(({ responseId }) => responseId)).toEqual([FIRST, DELETED, LAST]);
  expect(chain?.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(
    [2, 1, 12, 11, 22, 21].map((counter) => idOf(counter, "msg")),
  );
  expect(await readNumbers(events, LAST, 0)).toEqual([1, 2, 3]);
  expect(await responses.findResponse(OURS, DELETED)).toBeNull();
  const wanted = [idOf(1, "msg"), idOf(11, "msg")];
  expect([...(await responses.findItems(OURS, wanted)).keys()]).toEqual(wanted.slice(0, 1));

  expect((await claimUnmade(ledger, 10)).map(({ response }) => response.id)).toEqual([LIVE]);
  await events.append(LIVE, textEvents(4, 1));
  expect(await readNumbers(events, LIVE, 2)).toEqual([3, 4]);
  await events.close(LIVE, [], { response: aResponse(LIVE, { status: "completed" }), outputItems: [] });

  let removed = 0;
  for (let pass = 0; pass < 4; pass++) {
    removed += (await expiry.deleteExpired(1_770_000_000, null)).deleted;
    while ((await erasure.eraseUnused("")).erased > 0);
  }
  expect(removed).toBe(3);
  expect(countParts(file)).toEqual({ items: 0, event_chunks: 0, ancestors: 0 });
});

function countParts(file: string): unknown {
  const database = new DatabaseSync(file);
  const counts = ["items", "event_chunks", "ancestors"].map((table) => `(select count(*) from ${table}) as ${table}`);
  const row = database.prepare(`select ${counts.join(", ")}`).get();
  database.close();
  return { ...row };
}

test("what an earlier release had counted for owners is counted anew", async () => {
  const file = await olderDatabase();
  const triggers = new DatabaseSync(file);
  triggers.exec(`create trigger files_usage_added after insert on files begin select raise(abort, 'counts'); end`);
  triggers.exec(`insert into owner_usage values ('org_a', 'proj_a', 1000000)`);
  triggers.close();
  const rows = new OlderRows(file);
  rows.addResponse(FIRST, null);
  rows.close();
  await (await openStore({ file })).close();
  const { quota } = await openTestStore({ file, ownerBytesMax: 100_000 });
  await quota.requireRoom(OURS, 90_000);
  await expect(quota.requireRoom(OURS, 100_000)).rejects.toThrow(StorageQuotaExceeded);
});
