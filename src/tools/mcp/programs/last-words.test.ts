import { expect, test } from "vitest";
import { errorLineOf, LastWords } from "./last-words.ts";

test.each([
  [
    "node:internal\n\nError: Cannot find module 'x'\n    at load (a.js:1)\n\nNode.js v24\n",
    "Error: Cannot find module 'x'",
  ],
  ["Traceback:\n  File a.py\n    raise ValueError(1)\nValueError: 1\n", "ValueError: 1"],
  ["/bin/sh: 1: /does/not/exist: not found\n", "/bin/sh: 1: /does/not/exist: not found"],
  ["", ""],
])("%j is told as %j", (text, line) => {
  expect(errorLineOf(text)).toBe(line);
});

test("of endless words the end is kept, from the beginning of a line", () => {
  const words = new LastWords();
  for (let line = 0; line < 10_000; line += 1) words.add(Buffer.from(`line ${line}\n`));
  expect(words.text).toMatch(/^line \d+\nline (?:.|\n)*\nline 9999$/);
  expect(words.text.length).toBeLessThanOrEqual(16 * 1024);
  words.add(Buffer.from("x".repeat(20_000)));
  expect(words.text).toBe("");
});
