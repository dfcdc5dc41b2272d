import { expect, test } from "vitest";
import { loadForms } from "./word-forms.ts";
import { wordsOf } from "./words.ts";

const ENGLISH = await loadForms("eng");

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
  expect([...wordsOf(text, ENGLISH)]).toEqual(words);
});

test("a word in any form finds the same word", () => {
  for (const [one, other] of [
    ["Café", "cafe"],
    ["RUNNING", "run"],
    ["e\u0301te\u0301", "été"],
  ] as const)
    expect([...wordsOf(one, ENGLISH)]).toEqual([...wordsOf(other, ENGLISH)]);
});

test("a word stays one word of letters, in whatever letters it is written", () => {
  expect([...wordsOf("Οδυσσέας ΟΔΥΣΣΕΑΣ 𝛓", ENGLISH)]).toEqual(["οδυσσεασ", "οδυσσεασ", "σ"]);
  expect([...wordsOf("co\u0140lecci\u00f3 \ufdfa", ENGLISH)]).toEqual(["colleccio", "صلىاللهعليهوسلم"]);
  expect([...wordsOf(`${"x".repeat(63)}${"𐍈".repeat(9)}`, ENGLISH)]).toEqual(["x".repeat(63)]);
});

test.each([
  ["on 2025-01-19 at", ["on", "2025", "01", "19", "20250119", "at"]],
  ["DE-4711/b, x", ["de", "4711", "b", "de4711b", "x"]],
  ["well-known and/or", ["well", "known", "and", "or"]],
  ["1--2 - 3-", ["1", "2", "3"]],
])("numbers with several parts count as a whole too: %s", (text, words) => {
  expect([...wordsOf(text, ENGLISH)]).toEqual(words);
});
