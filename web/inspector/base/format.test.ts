import { expect, test } from "vitest";
import { formatTick } from "./format.ts";

const secondsOf = (text: string): number => new Date(text).getTime() / 1000;
const NOW_MS = secondsOf("2026-03-10T18:00:00") * 1000;

test.each([
  ["an axis within today", "2026-03-10T09:05:00", "2026-03-10T18:00:00", 60, "09:05"],
  ["an axis that began yesterday", "2026-03-09T18:00:00", "2026-03-10T18:00:00", 1440, "9 Mar 18:00"],
  ["an axis within an earlier day", "2026-03-08T09:00:00", "2026-03-08T10:00:00", 60, "8 Mar 09:00"],
  ["an axis of a week", "2026-03-03T18:00:00", "2026-03-10T18:00:00", 10_080, "3 Mar 18:00"],
  ["steps of a day and more", "2026-01-01T00:00:00", "2026-03-10T18:00:00", 100_000, "1 Jan"],
])("%s begins with its date unless that is today's", (_, from, to, stepSeconds, expected) => {
  const axis = { from: secondsOf(from), to: secondsOf(to), stepSeconds };
  expect(formatTick(axis.from, axis, NOW_MS)).toBe(expected);
});
