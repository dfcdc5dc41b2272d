import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { until } from "../http/sample-interface.fixture.ts";
import { type Unread, UnreadBytes } from "./unread-bytes.ts";

const LONG_MS = 1_000_000;

/** Opens one reader per name. `cut` lists the names of the readers that were cut off. */
function readersOf(unread: UnreadBytes, ...names: readonly string[]) {
  const cut: string[] = [];
  const readers = names.map((name): Unread => unread.open(() => cut.push(name)));
  return { cut, readers };
}

test("when too many bytes wait, the reader that has read nothing for longest is cut off", () => {
  const unread = new UnreadBytes({ bytesMax: 100, idleTimeoutMs: LONG_MS });
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

test("a single reader may exceed the limit", () => {
  const unread = new UnreadBytes({ bytesMax: 100, idleTimeoutMs: LONG_MS });
  const { cut, readers } = readersOf(unread, "only");
  readers[0]?.update(1000);
  readers[0]?.update(0);
  expect([cut, unread.bytes]).toEqual([[], 0]);
});

test("a reader that reads nothing for too long is cut off, and a slow one is not", async () => {
  const unread = new UnreadBytes({ bytesMax: 1000, idleTimeoutMs: 150 });
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
