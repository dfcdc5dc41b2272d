import { expect, test } from "vitest";
import { folderFaults } from "./tree-rules.ts";

const filesOf = (folder: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${folder}/file-${index}.ts`);

test.each([
  ["a folder of 23 files", filesOf("src/a", 23), [], ["src/a holds 23 files"]],
  ["an excuse that nobody needs", filesOf("src/a", 22), ["src/a"], ["src/a is small enough: take it off the list"]],
])("folders-are-small fires on %s", (_what, paths, excused, faults) => {
  expect(folderFaults(paths, excused)).toEqual(faults);
});

test.each([
  ["a folder of 22 files", filesOf("src/a", 22), []],
  ["files of its folders", [...filesOf("src/a", 20), ...filesOf("src/a/b", 20)], []],
  ["operations", filesOf("src/a/operations", 40), []],
  ["a folder that is excused", filesOf("src/a", 23), ["src/a"]],
  ["tests outside src/", filesOf("tests", 40), []],
])("folders-are-small does not fire on %s", (_what, paths, excused) => {
  expect(folderFaults(paths, excused)).toEqual([]);
});
