import { expect, test } from "vitest";
import { TurnQueue, type Urgency } from "./turn-queue.ts";

/** Jobs are named after their callers; a capital is awaited. */
function orderOf(jobs: string): string {
  const queue = new TurnQueue<string>(100);
  for (const job of jobs) queue.add(job, job.toLowerCase(), urgencyOf(job));
  return Array.from(jobs, () => queue.take()).join("");
}

function urgencyOf(job: string): Urgency {
  return job === job.toUpperCase() ? "awaited" : "ahead";
}

test.each([
  ["AAABBC", "ABCABA"],
  ["AAAA", "AAAA"],
  ["aabb", "abab"],
  ["aaAAAAAA", "AAAaAAAa"],
  ["abBA", "BAab"],
])("%s are taken as %s", (jobs, order) => {
  expect(orderOf(jobs)).toBe(order);
});

test("jobs without a caller stand each for itself", () => {
  const queue = new TurnQueue<number>(10);
  for (const [job, caller] of [[1, "a"] as const, [2, "a"] as const, [3, null] as const, [4, null] as const])
    queue.add(job, caller, "awaited");
  expect([queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]).toEqual([1, 3, 4, 2, undefined]);
});

test("a full queue takes nothing but what was taken from it, which goes first", () => {
  const queue = new TurnQueue<string>(2);
  expect([queue.add("a", null, "awaited"), queue.add("b", null, "ahead"), queue.add("c", null, "awaited")]).toEqual([
    true,
    true,
    false,
  ]);
  const job = queue.take() ?? "";
  expect(queue.add("d", null, "awaited")).toBe(true);
  queue.putBack(job);
  expect([queue.take(), queue.take(), queue.take()]).toEqual(["a", "d", "b"]);
});

test("what is removed is never taken, and makes room", () => {
  const queue = new TurnQueue<string>(2);
  queue.add("a", "x", "awaited");
  queue.add("b", "x", "awaited");
  expect([queue.remove("a"), queue.remove("a"), queue.isFull]).toEqual([true, false, false]);
  expect([queue.take(), queue.take()]).toEqual(["b", undefined]);
});
