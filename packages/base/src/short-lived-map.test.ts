import { expect, test } from "vitest";
import { ShortLivedMap } from "./short-lived-map.ts";

test("keeps its values in the order in which they came, until they leave", () => {
  const map = new ShortLivedMap<string, number>();
  map.add("one", 1);
  map.add("two", 2);
  map.add("three", 3);
  map.delete("two");
  map.delete("unknown");
  expect([map.size, [...map.keys()], [...map.values()]]).toEqual([2, ["one", "three"], [1, 3]]);
  expect([map.get("one"), map.has("one"), map.get("two"), map.has("two")]).toEqual([1, true, undefined, false]);
});

test("values may leave while they are listed", () => {
  const map = new ShortLivedMap<number, string>();
  for (const [key, value] of ["a", "b", "c"].entries()) map.add(key, value);
  const listed: string[] = [];
  for (const value of map.values()) {
    listed.push(value);
    map.delete(0);
    map.delete(1);
  }
  expect(listed).toEqual(["a", "c"]);
});
