import { expect, test } from "vitest";
import { fitText } from "./fitted-text.ts";

const TEXT = "Commands\n  keys   makes, lists and revokes the keys of this server\n      A setting whose text is long.";

test("long lines are broken between words, under the text that they continue", () => {
  expect(fitText(TEXT, { isTTY: true, columns: 40 })).toBe(
    [
      "Commands",
      "  keys   makes, lists and revokes the",
      "         keys of this server",
      "      A setting whose text is long.",
    ].join("\n"),
  );
});

test.each([
  ["a script", { columns: 40 }],
  ["a terminal of unknown width", { isTTY: true }],
  ["a very narrow terminal", { isTTY: true, columns: 10 }],
])("%s gets the text as it is", (_who, output) => {
  expect(fitText(TEXT, output)).toBe(TEXT);
});

test("a word that is longer than a line stays whole", () => {
  const word = "x".repeat(60);
  expect(fitText(`  ${word} and more`, { isTTY: true, columns: 40 })).toBe(`  ${word} and more`);
});
