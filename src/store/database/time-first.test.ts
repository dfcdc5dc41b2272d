import { DatabaseSync } from "node:sqlite";
import { idFromStem, newIdStem } from "@antiphon/base/ids.ts";
import fc from "fast-check";
import { Kysely } from "kysely";
import { expect, test, vi } from "vitest";
import type { Database } from "./schema.ts";
import { sqliteDialect } from "./sqlite/sqlite.ts";
import { timeFirst, timeFirstSql } from "./time-first.ts";

test("SQLite makes the same form of an id as we do", async () => {
  const dialect = sqliteDialect(":memory:", { lockWaitMs: 0, sync: "normal", onSpoilt: () => {} });
  const db = new Kysely<Database>({ dialect });
  const form = timeFirstSql("id").compile(db).sql;
  const database = new DatabaseSync(":memory:");
  const query = database.prepare(`select ${form} as form from (select ? as id)`);
  const anyId = fc.string({ unit: "binary", maxLength: 80 });
  fc.assert(
    fc.property(anyId, (id) => {
      expect(timeFirst(id)).toBe(query.get(id)?.["form"]);
    }),
  );
  database.close();
  await db.destroy();
});

test("no two ids of ours have one form", () => {
  const anyId = fc.tuple(fc.nat(3), fc.nat(3)).map(([time, counter]) => {
    const stem = { key: "0123456789abcdef", createdAt: time, seed: "fedcba9876543210" };
    return idFromStem("msg", stem, counter);
  });
  fc.assert(
    fc.property(anyId, anyId, (one, other) => {
      expect(timeFirst(one) === timeFirst(other)).toBe(one === other);
    }),
  );
});

test("later ids have later forms, whatever their random digits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff_fffe }), (second) => {
      const [earlier, later] = [second, second + 1].map((time) => timeFirst(idFromStem("resp", newIdStem(time), 0)));
      expect((earlier ?? "") < (later ?? "")).toBe(true);
    }),
  );
});

test("ids of one second have the order of their milliseconds", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const forms = Array.from({ length: 1000 }, (_, ms) => {
    vi.setSystemTime(1_800_000_000_000 + ms);
    return timeFirst(idFromStem("resp", newIdStem(1_800_000_000), 0));
  });
  vi.useRealTimers();
  expect(forms).toEqual(forms.toSorted());
});
