import fc from "fast-check";
import { expect, test } from "vitest";
import { writePattern } from "./write-pattern.ts";

const PATTERNS = [
  "^[a-z]+$",
  "^[A-Z]{2}\\d{4}$",
  "^\\+?[1-9]\\d{1,14}$",
  "^(?:red|green|blue)$",
  "^#[0-9a-fA-F]{6}$",
  "^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$",
  "^\\S(.*\\S)?$",
  "^(\\d{3}-){2}\\d{4}$",
  "^[\\w.-]{3,8}$",
  "^\\p{Lu}\\p{Ll}*$",
  "^\\u0041\\x42$",
  "^[^a-z0-9]+$",
  "a{2,3}?b*?c+?",
  "^(?<year>\\d{4})-(0[1-9]|1[0-2])$",
  "\\bword\\b",
  "^$",
  "^\\/[\\/a-z\\]]+$",
];

test.each(PATTERNS)("the text written for %s matches it", (source) => {
  for (let variant = 0; variant < 5; variant += 1) {
    expect(writePattern(source, { min: 0, max: 100, variant })).toMatch(new RegExp(source, "u"));
  }
});

test("the text has the requested length if the pattern allows it", () => {
  expect(writePattern("^[a-z]*$", { min: 10, max: 12, variant: 0 })).toHaveLength(12);
  expect(writePattern("^[a-z]*$", { min: 0, max: 0, variant: 0 })).toBe("");
  expect(writePattern("^[a-z]{4}$", { min: 5, max: 9, variant: 0 })).toBeNull();
});

test.each(["(?=a)b", "(a)\\1", "(?!x)", "a**", "(a", "[a", "a)", "\\p{Nonsense}", "[[:alpha:]]", "(?i)a"])(
  "what it does not understand is left alone: %s",
  (source) => {
    expect(writePattern(source)).toBeNull();
  },
);

test("malicious patterns take little time", () => {
  expect(writePattern("((((a{999}){999}){999}){999}){999}")).toBeNull();
  expect(writePattern(`${"(".repeat(900)}a${")".repeat(900)}`)).toBe("a");
  expect(writePattern("(a+)+$")).toBe("a");
});

test("reading any text as a pattern never throws", () => {
  const source = fc.string({ unit: fc.constantFrom(..."ab1()[]{}|?*+^$.\\-,:dwpu<>=") });
  fc.assert(
    fc.property(source, (text) => {
      const written = writePattern(text);
      expect(written === null || typeof written === "string").toBe(true);
    }),
    { numRuns: 1000 },
  );
});
