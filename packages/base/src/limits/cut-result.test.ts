import fc from "fast-check";
import { expect, test } from "vitest";
import { cutPlace, cutResult } from "./cut-result.ts";

test.each<[string, string, number, string]>([
  ["a whole text", "One. Two.", 20, "One. Two."],
  ["behind a paragraph", "First line.\n\nSecond paragraph", 20, "First line."],
  ["behind a line", "One line of text\nand more", 20, "One line of text"],
  ["behind a sentence", "One sentence here. Then more", 21, "One sentence here."],
  ["behind a word", "One two three four fi", 20, "One two three four"],
  ["anywhere where there is no better place", "x".repeat(30), 20, "x".repeat(20)],
  ["never within a character", `${"x".repeat(19)}😀`, 20, "x".repeat(19)],
])("a text ends %s", (_name, text, charactersMax, shown) => {
  expect(text.slice(0, cutPlace(text, charactersMax))).toBe(shown);
});

const TEXT = fc.string({ unit: fc.constantFrom("a", " ", ".", "\n", "😀"), minLength: 1 });

test("a cut says how much is missing", () => {
  fc.assert(
    fc.property(TEXT, fc.nat(50), (text, charactersMax) => {
      const { text: shown, notice } = cutResult(text, charactersMax);
      expect(text.startsWith(shown)).toBe(true);
      expect(shown.length).toBeLessThanOrEqual(charactersMax);
      expect(notice).toContain(`${text.length - shown.length} were left out`);
    }),
  );
});
