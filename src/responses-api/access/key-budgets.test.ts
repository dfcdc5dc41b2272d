import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { periodBounds } from "./key-budgets.ts";

function seconds(time: string): number {
  return Date.parse(`${time}Z`) / 1000;
}

test.each([
  ["day", "2026-11-28T23:59:59", "2026-11-28T00:00:00", "2026-11-29T00:00:00"],
  ["day", "2026-11-28T00:00:00", "2026-11-28T00:00:00", "2026-11-29T00:00:00"],
  ["week", "2026-11-29T23:59:59", "2026-11-23T00:00:00", "2026-11-30T00:00:00"], // A Sunday.
  ["week", "2026-11-30T00:00:00", "2026-11-30T00:00:00", "2026-12-07T00:00:00"], // A Monday.
  ["month", "2026-12-31T23:59:59", "2026-12-01T00:00:00", "2027-01-01T00:00:00"],
  ["month", "2028-02-29T12:00:00", "2028-02-01T00:00:00", "2028-03-01T00:00:00"],
] as const)("the %s of %s begins at %s and ends at %s", (period, at, start, end) => {
  verifies("usage.budgets.periods");
  expect(periodBounds(period, seconds(at))).toEqual({ start: seconds(start), end: seconds(end) });
});

test("a total has no end", () => {
  verifies("usage.budgets.periods");
  expect(periodBounds("total", seconds("2026-11-28T00:00:00"))).toEqual({ start: 0, end: null });
});
