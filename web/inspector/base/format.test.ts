import { expect, test } from "vitest";
import { formatTick } from "./format.ts";

const secondsOf = (text: string): number => new Date(text).getTime() / 1000;
const NOW_MS = secondsOf("2026-03-10T18:00:00") * 1000;

test.each([
  { axis: "within today", from: "2026-03-10T09:05:00", to: "2026-03-10T18:00:00", step: 60, label: "09:05" },
  {
    axis: "from yesterday on",
    from: "2026-03-09T18:00:00",
    to: "2026-03-10T18:00:00",
    step: 1440,
    label: "9 Mar 18:00",
  },
  {
    axis: "within an earlier day",
    from: "2026-03-08T09:00:00",
    to: "2026-03-08T10:00:00",
    step: 60,
    label: "8 Mar 09:00",
  },
  { axis: "of a week", from: "2026-03-03T18:00:00", to: "2026-03-10T18:00:00", step: 10_080, label: "3 Mar 18:00" },
  { axis: "with steps of a day", from: "2026-01-01T00:00:00", to: "2026-03-10T18:00:00", step: 86_400, label: "1 Jan" },
])("an axis $axis begins with its date unless that is today's", ({ from, to, step, label }) => {
  const axis = { from: secondsOf(from), to: secondsOf(to), stepSeconds: step };
  expect(formatTick(axis.from, axis, NOW_MS)).toBe(label);
});
