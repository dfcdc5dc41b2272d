import { expect, test } from "vitest";
import { SlicePace } from "./slice-pace.ts";

/** The sizes of the slices of a page whose responses take so many milliseconds each. */
function check(
  isSearch: boolean,
  msEach: number,
  expected: { readonly first: readonly number[]; readonly sum: number },
) {
  let nowMs = 0;
  const pace = new SlicePace(isSearch, () => nowMs);
  const sizes: number[] = [];
  let goesOn = true;
  while (goesOn) {
    sizes.push(pace.size);
    nowMs += pace.size * msEach;
    goesOn = pace.next();
  }
  expect(sizes.slice(0, expected.first.length)).toEqual(expected.first);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(expected.sum);
}

test("slices grow while they are quick, and a page ends after a number of responses", () => {
  check(true, 0, { first: [100, 200, 400, 800, 1_000, 1_000], sum: 20_500 });
  check(false, 0, { first: [1_000, 1_000], sum: 200_000 });
});

test("slices shrink while they are slow, and a page ends after two seconds", () => {
  check(true, 2, { first: [100, 50, 25, 25], sum: 1_000 });
  check(false, 100, { first: [1_000], sum: 1_000 });
});
