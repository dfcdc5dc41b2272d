import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

const { signal } = new AbortController();

test("no more than so many are in at once, and who waits comes in the order of coming", async () => {
  const slots = new Slots(2);
  const seen: string[] = [];
  let inside = 0;
  const work = async (name: string): Promise<void> => {
    const giveBack = await slots.take(signal);
    inside += 1;
    expect(inside).toBeLessThanOrEqual(2);
    seen.push(name);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    giveBack();
  };
  await Promise.all(["a", "b", "c", "d", "e"].map(work));
  expect(seen).toEqual(["a", "b", "c", "d", "e"]);
  expect(inside).toBe(0);
});

test("who leaves while waiting takes no place", async () => {
  const slots = new Slots(1);
  const giveBack = await slots.take(signal);
  const leaving = new AbortController();
  const left = slots.take(leaving.signal);
  const next = slots.take(signal);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await expect(slots.take(leaving.signal)).rejects.toThrow("left");
  giveBack();
  (await next)();
  (await slots.take(signal))();
});
