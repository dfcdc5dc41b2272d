import { expect, test } from "vitest";
import { SharedWork } from "./shared-work.ts";

/** Work that ends when it is told to. */
function waiting() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const shared = new SharedWork((signal) => {
    signals.push(signal);
    return promise;
  });
  return { shared, signals, resolve };
}

test("one who leaves does not stop the work for the others", async () => {
  const { shared, signals, resolve } = waiting();
  const leaving = new AbortController();
  const left = shared.join(leaving.signal);
  const stays = shared.join(new AbortController().signal);
  leaving.abort("left");
  await expect(left).rejects.toBe("left");
  expect([shared.isOver, signals.map(({ aborted }) => aborted)]).toEqual([false, [false]]);
  resolve("done");
  expect(await stays).toBe("done");
  expect([shared.isOver, signals.map(({ aborted }) => aborted)]).toEqual([true, [false]]);
});

test("the work is stopped when the last has left", async () => {
  const { shared, signals } = waiting();
  const leaving = new AbortController();
  const both = [shared.join(leaving.signal), shared.join(leaving.signal)];
  leaving.abort("left");
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([shared.isOver, signals.map(({ aborted }) => aborted)]).toEqual([true, [true]]);
});
