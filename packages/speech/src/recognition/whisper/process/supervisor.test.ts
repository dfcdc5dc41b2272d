import { expect, test } from "vitest";
import { nextStart } from "./supervisor.ts";

const NOW = 1_000_000;

function endsWithin(count: number, spanMs: number): number[] {
  return Array.from({ length: count }, (_, index) => NOW - spanMs + (spanMs * index) / count);
}

test.each([
  { what: "the first end in a long time", endsMs: [0, NOW], inVain: 0, next: { type: "soon", pauseMs: 0 } },
  { what: "the second within a minute", endsMs: [NOW - 1000, NOW], inVain: 0, next: { type: "soon", pauseMs: 100 } },
  { what: "the fifth", endsMs: endsWithin(5, 30_000), inVain: 0, next: { type: "soon", pauseMs: 800 } },
  { what: "the tenth", endsMs: endsWithin(10, 30_000), inVain: 0, next: { type: "soon", pauseMs: 5000 } },
  { what: "the eleventh", endsMs: endsWithin(11, 30_000), inVain: 0, next: { type: "rest", pauseMs: 10_000 } },
  { what: "eleven within an hour", endsMs: endsWithin(11, 3_600_000), inVain: 0, next: { type: "soon", pauseMs: 0 } },
  { what: "a failed start", endsMs: [NOW], inVain: 1, next: { type: "soon", pauseMs: 100 } },
  { what: "three failed starts", endsMs: [NOW], inVain: 3, next: { type: "rest", pauseMs: 10_000 } },
])("after $what: $next", ({ endsMs, inVain, next }) => {
  expect(nextStart(endsMs, inVain, NOW)).toEqual(next);
});
