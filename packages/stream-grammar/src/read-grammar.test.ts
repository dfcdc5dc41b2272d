import { describe, expect, test } from "vitest";
import { after, END, type Expression, mayEnd, nextNames } from "./expression.ts";
import { readGrammar } from "./read-grammar.ts";

/** Whether a definition matches exactly these words. */
function takes(definition: string, words: string): boolean {
  let rest: Expression = readGrammar(`part = x y\nwhole = ${definition}`).get("whole") ?? END;
  for (const word of words.split(" ").filter(Boolean)) rest = after(rest, word);
  return mayEnd(rest);
}

describe("a definition", () => {
  test.each([
    ["a b", ["a b"], ["", "a", "b a", "a b b"]],
    ["a | b c", ["a", "b c"], ["a b", "b", "a c"]],
    ["a* b", ["b", "a b", "a a a b"], ["a", "b a"]],
    ["a+ b", ["a b", "a a b"], ["b", "a"]],
    ["[a] b", ["b", "a b"], ["a", "a a b"]],
    ["(a | b)* c", ["c", "a b a c"], ["a b"]],
    ["(a b*)* c", ["c", "a b b a c"], ["b c"]],
    ["part* c", ["c", "x y x y c"], ["x c", "part c"]],
    ["a<one> b.c-d", ["a<one> b.c-d"], ["a b.c-d"]],
  ])("'%s' matches the legal sequences only", (definition, legal, illegal) => {
    expect(legal.filter((words) => !takes(definition, words))).toEqual([]);
    expect(illegal.filter((words) => takes(definition, words))).toEqual([]);
  });

  test.each(["a = (b", "a = b)", "a = [b", "a = *", "a", "a = b\na = c"])("'%s' cannot be read", (text) => {
    expect(() => readGrammar(text)).toThrow(/a grammar/);
  });

  test("gives the names that may come next", () => {
    const start = readGrammar("a = [b] (c | d)* e").get("a") ?? END;
    expect(nextNames(start)).toEqual(["b", "c", "d", "e"]);
    expect(nextNames(after(start, "c"))).toEqual(["c", "d", "e"]);
    expect(nextNames(after(start, "e"))).toEqual([]);
  });
});
