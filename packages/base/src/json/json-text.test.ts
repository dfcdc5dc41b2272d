import { expect, test } from "vitest";
import { jsonOf, rememberJson } from "./json-text.ts";

test("a value that was turned into text is not turned into text again", () => {
  const value = { a: 1 };
  expect(rememberJson(value, '{"a":1.0}')).toBe(value);
  expect(jsonOf(value)).toBe('{"a":1.0}');
});

test("what is remembered shows nowhere, and is not copied", () => {
  const value = rememberJson({ a: 1 }, '{"a":1.0}');
  expect(Reflect.ownKeys(value)).toEqual(["a"]);
  expect(jsonOf({ ...value })).toBe('{"a":1}');
});

test("the first text stays", () => {
  const value = rememberJson({ a: 1 }, '{"a":1.0}');
  expect(jsonOf(rememberJson(value, "{}"))).toBe('{"a":1.0}');
});
