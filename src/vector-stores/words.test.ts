import { expect, test } from "vitest";
import { wordsOf } from "./words.ts";

test.each([
  ["The foxes' jumping, over 3 dogs!", ["the", "fox", "jump", "over", "3", "dog"]],
  ["Ökonomie der Häuser", ["okonomi", "der", "hauser"]],
  ["東京は日本の首都です", ["東京", "は", "日本", "の", "首都", "です"]],
  ["สวัสดีชาวโลก", ["สวัสดี", "ชาว", "โลก"]],
  ["中国的首都", ["中国", "的", "首都"]],
  ["readFile and read_file", ["readfil", "read", "file", "and", "readfil", "read", "file"]],
  ["ﬁle 𝔘nicode", ["file", "unicod"]],
  ["»« — !", []],
])("the words of %s", (text, words) => {
  expect([...wordsOf(text)]).toEqual(words);
});

test("a word in any form finds the same word", () => {
  for (const [one, other] of [
    ["Café", "cafe"],
    ["RUNNING", "run"],
    ["e\u0301te\u0301", "été"],
  ] as const)
    expect([...wordsOf(one)]).toEqual([...wordsOf(other)]);
});

test("a word stays one word of letters, in whatever letters it is written", () => {
  expect([...wordsOf("Οδυσσέας ΟΔΥΣΣΕΑΣ 𝛓")]).toEqual(["οδυσσεασ", "οδυσσεασ", "σ"]);
  expect([...wordsOf("co\u0140lecci\u00f3 \ufdfa")]).toEqual(["colleccio", "صلىاللهعليهوسلم"]);
  expect([...wordsOf("x".repeat(63) + "𐍈".repeat(9))]).toEqual(["x".repeat(63)]);
});
