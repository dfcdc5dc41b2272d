import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

const NEVER = new AbortController().signal;

test("who finds no place waits, and is served in the order of coming", async () => {
  const slots = new Semaphore(2);
  const served: string[] = [];
  const take = async (name: string, signal = NEVER): Promise<() => void> => {
    const giveBack = await slots.take(signal);
    served.push(name);
    return giveBack;
  };
  const first = await take("first");
  const second = await take("second");
  const third = take("third");
  const leaving = new AbortController();
  const fourth = take("fourth", leaving.signal);
  const fifth = take("fifth");
  await new Promise(setImmediate);
  expect(served).toEqual(["first", "second"]);

  leaving.abort(new Error("gone"));
  await expect(fourth).rejects.toThrow("gone");
  first();
  (await third)();
  await fifth;
  expect(served).toEqual(["first", "second", "third", "fifth"]);
  second();
});

test("who comes too late finds the signal's reason, and takes no place", async () => {
  const slots = new Semaphore(1);
  await expect(slots.take(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  (await slots.take(NEVER))();
});

test("who leaves in the tick in which the turn came pushes nobody out of the line", async () => {
  const slots = new Semaphore(1);
  const release = await slots.take(NEVER);
  const leaving = new AbortController();
  const second = slots.take(leaving.signal);
  const third = slots.take(NEVER);
  release();
  leaving.abort(new Error("gone"));
  (await second)();
  (await third)();
});
