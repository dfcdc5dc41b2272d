import { expect, test } from "vitest";
import { FairSemaphore } from "./fair-semaphore.ts";

const NEVER = new AbortController().signal;

/** Takes a place and records that. */
function taker(slots: FairSemaphore) {
  const served: string[] = [];
  const take = async (owner: string, signal = NEVER): Promise<() => void> => {
    const giveBack = await slots.take(owner, signal);
    served.push(owner);
    return giveBack;
  };
  return { served, take };
}

test("one owner never holds all places, and its own wait for each other", async () => {
  const { served, take } = taker(new FairSemaphore(3, 2));
  const first = await take("a");
  await take("a");
  const third = take("a");
  const other = await take("b");
  expect(served).toEqual(["a", "a", "b"]);
  first();
  await third;
  expect(served).toEqual(["a", "a", "b", "a"]);
  const late = take("c");
  await new Promise(setImmediate);
  expect(served).toHaveLength(4);
  other();
  await late;
  expect(served.at(-1)).toBe("c");
});

test("who leaves while waiting takes no place with it", async () => {
  const { take } = taker(new FairSemaphore(2, 1));
  const first = await take("a");
  const leaving = new AbortController();
  const waiting = take("a", leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(take("a", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  first();
  const again = await take("a");
  const other = await take("b");
  again();
  other();
});
