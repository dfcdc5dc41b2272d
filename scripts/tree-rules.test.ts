import { expect, test } from "vitest";
import {
  contextFaults,
  folderFaults,
  functionNameFaults,
  nameFaults,
  participleFaults,
  smallFileFaults,
} from "./tree-rules.ts";

const filesOf = (folder: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${folder}/file-${index}.ts`);

test("folders-are-small fires on a folder of 23 files", () => {
  expect(folderFaults(filesOf("src/a", 23))).toEqual(["src/a holds 23 files"]);
  expect(folderFaults(filesOf("packages/a/src", 23))).toEqual(["packages/a/src holds 23 files"]);
});

test.each([
  ["a folder of 22 files", filesOf("src/a", 22)],
  ["files of its folders", [...filesOf("src/a", 20), ...filesOf("src/a/b", 20)]],
  ["operations", filesOf("src/a/operations", 40)],
  ["migrations", filesOf("src/a/migrations", 40)],
  ["tests outside src/", filesOf("tests", 40)],
])("folders-are-small does not fire on %s", (_what, paths) => {
  expect(folderFaults(paths)).toEqual([]);
});

const SMALL = "export const a = 1;";
const LARGE = `${SMALL}\n`.repeat(31);
const importing = (path: string, ...froms: readonly string[]): { path: string; text: string } => ({
  path,
  text: froms.map((from) => `import "${from}";`).join("\n") + "\n".repeat(40) + "export {};",
});

test("small-files-are-boundaries fires on a small file with one importer", () => {
  const files = [{ path: "src/a/small.ts", text: SMALL }, importing("src/a/large.ts", "./small.ts")];
  expect(smallFileFaults(files)).toEqual(["src/a/small.ts has 1 lines: see src/a/large.ts"]);
});

test.each([
  ["a large one", [{ path: "src/a/b.ts", text: LARGE }, importing("src/a/c.ts", "./b.ts")]],
  [
    "one of two importers",
    [{ path: "src/a/b.ts", text: SMALL }, importing("src/a/c.ts", "./b.ts"), importing("src/a/d.ts", "./b.ts")],
  ],
  ["a port", [{ path: "src/a/ports.ts", text: SMALL }, importing("src/a/c.ts", "./ports.ts")]],
  ["a fixture", [{ path: "src/a/b.fixture.ts", text: SMALL }, importing("src/a/c.ts", "./b.fixture.ts")]],
  ["a test's importer", [{ path: "src/a/b.ts", text: SMALL }, importing("src/a/b.test.ts", "./b.ts")]],
])("small-files-are-boundaries does not fire on %s", (_what, files) => {
  expect(smallFileFaults(files)).toEqual([]);
});

const exporting = (path: string, text = "export function read(): void {}"): { path: string; text: string } => ({
  path,
  text,
});

test("one-name-one-thing fires on one name in two files", () => {
  const files = [exporting("src/a/b.ts"), exporting("src/c/d.ts", "export type read = string;")];
  expect(nameFaults(files)).toEqual(["read: src/a/b.ts, src/c/d.ts"]);
});

test.each([
  ["re-exports", [exporting("src/a/b.ts"), exporting("src/a/index.ts", 'export { read } from "./b.ts";')]],
  ["operations", [exporting("src/a/operations/read.ts"), exporting("src/b/operations/read.ts")]],
  ["catalogues of errors", [exporting("src/a/errors.ts"), exporting("src/b/errors/file-errors.ts")]],
  ["fixtures", [exporting("src/a/b.ts"), exporting("src/c/d.fixture.ts")]],
  ["a name of the list", ["src/a/b.ts", "src/c/d.ts"].map((path) => exporting(path, "export function isRecord() {}"))],
])("one-name-one-thing does not fire on %s", (_what, files) => {
  expect(nameFaults(files)).toEqual([]);
});

const FUNCTION_FORMS = [
  "function textOf(): void {}",
  "export function textOf(): void {}",
  "export async function* textOf(): AsyncGenerator<string> {}",
  "const textOf = (): string => '';",
];

test("functions-name-their-subject fires on one name in four files", () => {
  const files = FUNCTION_FORMS.map((text, index) => exporting(`src/a/file-${index}.ts`, text));
  expect(functionNameFaults(files)).toEqual([
    "textOf: src/a/file-0.ts, src/a/file-1.ts, src/a/file-2.ts, src/a/file-3.ts",
  ]);
});

test.each([
  ["three files", ["src/a.ts", "src/b.ts", "src/c.ts"], "function textOf() {}"],
  ["tests", ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.test.ts"], "function textOf() {}"],
  ["migrations", ["src/a.ts", "src/b.ts", "src/c.ts", "src/migrations/0001-a.ts"], "function textOf() {}"],
  ["files outside src/", ["src/a.ts", "src/b.ts", "src/c.ts", "scripts/d.ts"], "function textOf() {}"],
  ["values", ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"], "const textOf = 1;"],
  ["inner functions", ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"], "{ function textOf() {} }"],
])("functions-name-their-subject does not fire on %s", (_what, paths, text) => {
  expect(functionNameFaults(paths.map((path) => exporting(path, text)))).toEqual([]);
});

const members = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `readonly m${from + index}: 1;`).join(" ");

test.each([
  ["an interface", `interface CreateContext { ${members(9)} }`],
  ["an interface without an export, with methods", `interface CreateServices { ${members(8)} close(): void }`],
  [
    "what an interface inherits",
    `interface Base { ${members(5)} } interface CreateParts extends Base { ${members(4, 5)} }`,
  ],
  ["a literal type", `type CreateContext = { ${members(9)} };`],
  ["an intersection", `interface Base { ${members(5)} } type CreateContext = Base & { ${members(4, 5)} };`],
  ["what Omit leaves", `interface Base { ${members(10)} } type CreateContext = Omit<Base, "m0">;`],
  ["a name for another type", `interface Base { ${members(9)} } type CreateContext = Base;`],
])("contexts-are-small fires on %s with nine members", (_what, text) => {
  const [name] = /\bCreate\w+/.exec(text) ?? [];
  expect(contextFaults([exporting("src/a/b.ts", text)])).toEqual([`${name} of src/a/b.ts has 9 members`]);
});

test("contexts-are-small looks for members in other files", () => {
  const files = [
    exporting("src/a.ts", `export interface Base { ${members(9)} }`),
    exporting("src/b.ts", "export interface CreateContext extends Base {}"),
  ];
  expect(contextFaults(files)).toEqual(["CreateContext of src/b.ts has 9 members"]);
});

test.each([
  ["eight members", "src/a.ts", `interface CreateContext { ${members(8)} }`],
  [
    "a member that two types have",
    "src/a.ts",
    `interface Base { ${members(8)} } type RunParts = Base & { ${members(1)} };`,
  ],
  ["what Pick leaves", "src/a.ts", `interface Base { ${members(9)} } type RunParts = Pick<Base, "m0" | "m1">;`],
  ["what is no context", "src/a.ts", `interface ResponseFilter { ${members(9)} }`],
  ["a type of itself", "src/a.ts", "interface CreateContext extends CreateContext {}"],
  ["a test", "src/a.test.ts", `interface CreateContext { ${members(9)} }`],
  ["a file outside src/", "scripts/a.ts", `interface CreateContext { ${members(9)} }`],
])("contexts-are-small does not fire on %s", (_what, path, text) => {
  expect(contextFaults([exporting(path, text)])).toEqual([]);
});

const declaring = (path: string, ...names: readonly string[]): { path: string; text: string } => ({
  path,
  text: names.map((name) => `const ${name} = 1;\n`).join(""),
});
const NOUNS = Array.from({ length: 98 }, (_, index) => `noun${index}`);

test("names-are-nouns-or-verbs fires on two participles among a hundred names", () => {
  const files = [declaring("src/a.ts", ...NOUNS), declaring("packages/b/c.ts", "made", "asked")];
  expect(participleFaults(files)).toEqual(["2.0 %", "packages/b/c.ts: made, asked"]);
});

test.each([
  ["one among a hundred", [declaring("src/a.ts", ...NOUNS, "noun", "made")]],
  ["tests", [declaring("src/a.ts", ...NOUNS), declaring("src/a.test.ts", "made", "asked")]],
  ["files outside src/ and packages/", [declaring("src/a.ts", ...NOUNS), declaring("tests/a.ts", "made", "asked")]],
])("names-are-nouns-or-verbs does not fire on %s", (_what, files) => {
  expect(participleFaults(files)).toEqual([]);
});
