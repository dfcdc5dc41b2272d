import { expect, test } from "vitest";
import { codeBlocks, outputPattern } from "./code-blocks.ts";

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\`\n`;

test.each<[string, string, object]>([
  ["a shell block runs", fenced("sh", "ls"), { kind: "run", prints: null }],
  ["a block of configuration is only shown", fenced("toml", "a = 1"), { kind: "shown" }],
  ["a block that names a file is written to it", fenced("yaml", "# a.yaml\nb: 1"), { kind: "file", name: "a.yaml" }],
  [
    "a comment says why a block does not run",
    `<!-- not run: it needs a microphone -->\n\n${fenced("sh", "arecord")}`,
    { kind: "not-run", reason: "it needs a microphone" },
  ],
  [
    "a comment names the test that runs a block",
    `<!-- run by tests/a.test.ts -->\n${fenced("js", "1")}`,
    { kind: "run-elsewhere", test: "tests/a.test.ts" },
  ],
  ["text alone is only shown", fenced("text", "hello"), { kind: "shown" }],
  [
    "text right after a block that runs is what it prints",
    `${fenced("sh", "ls")}\n${fenced("text", "a")}`,
    { kind: "run", prints: "a\n" },
  ],
  ["text after other words is only shown", `${fenced("sh", "ls")}\nSo:\n\n${fenced("text", "a")}`, { kind: "shown" }],
])("%s", (_title, markdown, purpose) => {
  expect(codeBlocks("a.md", markdown).at(-1)?.purpose).toEqual(purpose);
});

test("a block has its code, its language and its place", () => {
  expect(codeBlocks("a.md", `# Title\n\n${fenced("sh", "ls\nls -a")}`)).toEqual([
    { place: "a.md:3", language: "sh", code: "ls\nls -a\n", purpose: { kind: "run", prints: null } },
  ]);
});

test.each([
  ["key sk-… (once)", "key sk-123 (once)", true],
  ["a (b)\nc", "0\na (b)\nc\nd", true],
  ["a\nc", "a\nb\nc", false],
])("the expected output %j fits %j: %j", (expected, output, fits) => {
  expect(outputPattern(expected).test(output)).toBe(fits);
});
