import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { until } from "../http/sample-interface.fixture.ts";
import { type Unread, UnreadBytes } from "./unread-bytes.ts";

const FOR_EVER_MS = 1_000_000;

/** Readers by name, and the names of those that were cut. */
function readersOf(unread: UnreadBytes, ...names: readonly string[]) {
  const cut: string[] = [];
  const readers = names.map((name): Unread => unread.open(() => cut.push(name)));
  return { cut, readers };
}

test("when too much waits, whoever has taken nothing for longest is cut", () => {
  const unread = new UnreadBytes({ bytesMax: 100, patienceMs: FOR_EVER_MS });
  const { cut, readers } = readersOf(unread, "first", "second", "third");
  const [first, second, third] = readers;
  first?.update(50);
  second?.update(40);
  first?.update(45);
  expect([cut, unread.bytes]).toEqual([[], 85]);
  third?.update(20);
  expect([cut, unread.bytes]).toEqual([["second"], 65]);
  third?.update(60);
  expect([cut, unread.bytes]).toEqual([["second", "first"], 60]);
});

test("one reader alone may have more than the rest together", () => {
  const unread = new UnreadBytes({ bytesMax: 100, patienceMs: FOR_EVER_MS });
  const { cut, readers } = readersOf(unread, "only");
  readers[0]?.update(1000);
  readers[0]?.update(0);
  expect([cut, unread.bytes]).toEqual([[], 0]);
});

test("whoever takes nothing for too long is cut, and whoever takes something is not", async () => {
  const unread = new UnreadBytes({ bytesMax: 1000, patienceMs: 150 });
  const { cut, readers } = readersOf(unread, "idle", "slow", "done");
  const [idle, slow, done] = readers;
  for (const reader of readers) reader.update(100);
  done?.update(0);
  for (let left = 90; !cut.includes("idle"); left -= 1) {
    await sleep(5);
    slow?.update(left);
  }
  expect(cut).toEqual(["idle"]);
  await until(() => cut.length === 2);
  expect([cut, unread.bytes]).toEqual([["idle", "slow"], 0]);
  idle?.update(0);
});
