import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { linePauseAfter, linesAllowed } from "./batch-runner.ts";

test("each other run takes the place of a line, down to one line", () => {
  verifies("batches.priority.others-first", "batches.priority.lines-at-once");
  expect([0, 1, 9, 10, 1_000].map((others) => linesAllowed(10, others))).toEqual([10, 9, 1, 1, 1]);
});

test("the pauses of a line grow to five minutes; an outage ends them, and a limit does not", () => {
  verifies("batches.lines.passing-faults");
  const pauses = Array.from({ length: 12 }, (_, attempts) => linePauseAfter("outage", attempts));
  expect(pauses.slice(0, 3)).toEqual([5_000, 10_000, 20_000]);
  expect(pauses.slice(-2)).toEqual([300_000, null]);
  expect(linePauseAfter("limit", 1_000)).toBe(300_000);
  expect(linePauseAfter(null, 0)).toBeNull();
});
