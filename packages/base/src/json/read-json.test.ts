import { expect, test } from "vitest";
import { jsonOrText, jsonOrUndefined, readJson } from "./read-json.ts";

test.each([
  ["{}", {}],
  ["null", null],
  ['"a"', "a"],
])("every reader reads %s", (text, value) => {
  for (const read of [readJson, jsonOrUndefined, jsonOrText]) expect(read(text)).toEqual(value);
});

test("a text that is no JSON throws, is undefined, or stays as it is", () => {
  expect(() => readJson("{")).toThrow(SyntaxError);
  expect(jsonOrUndefined("{")).toBeUndefined();
  expect(jsonOrText("{")).toBe("{");
});
