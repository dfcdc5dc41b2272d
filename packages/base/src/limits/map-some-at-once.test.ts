import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { mapSomeAtOnce } from "./map-some-at-once.ts";

test("results stand in the order of the values, and only so many are made at a time", async () => {
  let running = 0;
  let most = 0;
  const results = await mapSomeAtOnce([5, 1, 3, 0, 2], 2, async (value, index) => {
    running += 1;
    most = Math.max(most, running);
    await sleep(value);
    running -= 1;
    return `${index}:${value}`;
  });
  expect(results).toEqual(["0:5", "1:1", "2:3", "3:0", "4:2"]);
  expect(most).toBe(2);
});

test("after the first that fails no further one is begun", async () => {
  const begun: number[] = [];
  const mapping = mapSomeAtOnce([0, 1, 2, 3, 4, 5], 2, async (value) => {
    begun.push(value);
    await sleep(1);
    if (value === 1) throw new Error("one is too many");
  });
  await expect(mapping).rejects.toThrow("one is too many");
  await sleep(20);
  expect(begun.length).toBeLessThan(5);
});

test("of nothing comes nothing", async () => {
  expect(await mapSomeAtOnce([], 4, async () => 1)).toEqual([]);
});
