import { expect, test } from "vitest";
import { grow, lengthOf, NO_TEXT, wholeTextOf } from "./growing-text.ts";

test("is what its pieces are together, however many and however long", () => {
  for (const pieces of [
    ["a", "", "b"],
    Array.from({ length: 50_000 }, (_, at) => `${at} `),
    ["x".repeat(100_000), "y"],
  ]) {
    const text = pieces.reduce((grown, piece) => grow(grown, piece), NO_TEXT);
    expect(wholeTextOf(text)).toBe(pieces.join(""));
    expect(lengthOf(text)).toBe(pieces.join("").length);
  }
});

test("leaves what it grew from as it was", () => {
  const before = grow(NO_TEXT, "a");
  grow(before, "b".repeat(100_000));
  expect(wholeTextOf(before)).toBe("a");
});
