import { expect, onTestFinished, test, vi } from "vitest";
import { RunLost, StoreAway, StoreBusy, StoreStopped } from "../../runs/ports/store-faults.ts";
import { pauseAfter, StoreOutage } from "./store-outage.ts";

const AWAY = new StoreAway("away");
const { signal } = new AbortController();

test("pauses grow to three seconds, and no two readers need wait alike", () => {
  expect([1, 2, 3, 4, 5, 6, 7, 60].map((failures) => pauseAfter(failures, 1))).toEqual([
    100, 200, 400, 800, 1600, 3000, 3000, 3000,
  ]);
  expect([0, 0.5, 0.999].map((chance) => pauseAfter(6, chance))).toEqual([1500, 2250, 2999]);
});

test.each([
  [AWAY, true],
  [new StoreBusy("locked"), true],
  [new StoreStopped("the thread ended"), true],
  [new RunLost("another worker has it"), false],
  [new Error("damaged"), false],
])("whether a reader tries again after %s: %s", async (fault, isTried) => {
  expect(await new StoreOutage().outlast(fault, signal)).toBe(isTried);
});

test("a reader gives up once the store has been away for two minutes, and begins anew once it answered", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const outage = new StoreOutage();
  expect(await outage.outlast(AWAY, signal)).toBe(true);
  vi.advanceTimersByTime(119_999);
  expect(await outage.outlast(AWAY, signal)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await outage.outlast(AWAY, signal)).toBe(false);
  outage.end();
  expect(await outage.outlast(AWAY, signal)).toBe(true);
});

test("a reader that leaves waits no longer", async () => {
  const outage = new StoreOutage();
  for (let time = 0; time < 5; time += 1) void outage.outlast(AWAY, AbortSignal.abort());
  const began = performance.now();
  expect(await outage.outlast(AWAY, AbortSignal.abort())).toBe(true);
  expect(performance.now() - began).toBeLessThan(1000);
});
