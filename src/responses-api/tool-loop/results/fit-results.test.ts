import fc from "fast-check";
import { expect, test } from "vitest";
import { dividedEvenly } from "./fit-results.ts";

test("what small demands leave over is shared by the large ones", () => {
  expect(dividedEvenly([100, 1, 100], 61)).toEqual([30, 1, 30]);
  expect(dividedEvenly([1, 2], 61)).toEqual([1, 2]);
  expect(dividedEvenly([], 61)).toEqual([]);
});

test("no share is more than its demand, and all are no more than the sum", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), fc.nat(5000), (demands, sum) => {
      const shares = dividedEvenly(demands, sum);
      expect(shares.every((share, index) => share <= (demands[index] ?? 0))).toBe(true);
      expect(shares.reduce((all, share) => all + share, 0)).toBeLessThanOrEqual(sum + 1e-6);
    }),
  );
});
