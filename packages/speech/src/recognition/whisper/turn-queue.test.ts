import { expect, test } from "vitest";
import { type JobPriority, TurnQueue } from "./turn-queue.ts";

/** Each letter is a job and names its caller; capitals are awaited. */
function orderOf(jobs: string): string {
  const queue = new TurnQueue<string>(100);
  for (const job of jobs) queue.add(job, job.toLowerCase(), urgencyOf(job));
  return Array.from(jobs, () => queue.take()).join("");
}

function urgencyOf(job: string): JobPriority {
  return job === job.toUpperCase() ? "awaited" : "ahead";
}

test.each([
  ["AAABBC", "ABCABA"],
  ["AAAA", "AAAA"],
  ["aabb", "abab"],
  ["aaAAAAAA", "AAAaAAAa"],
  ["abBA", "BAab"],
])("jobs %s are taken in the order %s", (jobs, order) => {
  expect(orderOf(jobs)).toBe(order);
});

test("jobs without a caller count as different callers", () => {
  const queue = new TurnQueue<number>(10);
  for (const [job, caller] of [[1, "a"] as const, [2, "a"] as const, [3, null] as const, [4, null] as const])
    queue.add(job, caller, "awaited");
  expect([queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]).toEqual([1, 3, 4, 2, undefined]);
});

test("a job that is put back goes first, even in a full queue", () => {
  const queue = new TurnQueue<string>(2);
  queue.add("a", null, "awaited");
  expect(queue.isFull).toBe(false);
  queue.add("b", null, "ahead");
  expect(queue.isFull).toBe(true);
  const job = queue.take() ?? "";
  queue.add("d", null, "awaited");
  queue.putBack(job);
  expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(["a", "d", "b", undefined]);
});

test("a removed job is never taken and makes room", () => {
  const queue = new TurnQueue<string>(2);
  queue.add("a", "x", "awaited");
  queue.add("b", "x", "awaited");
  expect([queue.remove("a"), queue.remove("a"), queue.isFull]).toEqual([true, false, false]);
  expect([queue.take(), queue.take()]).toEqual(["b", undefined]);
});
