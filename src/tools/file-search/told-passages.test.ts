import { expect, test } from "vitest";
import { fromPassage, shortenPassages } from "./told-passages.ts";

const TOLD = ["[file:1] a.txt\nHerons.\n\nThey wait.", "[file:2] b.txt\nDucks.", "[file:1] a.txt\nOwls."].join("\n\n");

test("passages are shown whole as far as there is room, and the next call goes on behind them", () => {
  expect(shortenPassages(TOLD, 4, 60)).toEqual({
    text: "[file:1] a.txt\nHerons.\n\nThey wait.\n\n[file:2] b.txt\nDucks.",
    notice: "1 more passages were left out. Search again with from_passage 6 to see them.",
  });
});

test("a passage that is too long is cut", () => {
  const { text, notice } = shortenPassages(TOLD, 1, 22);
  expect(text).toBe("[file:1] a.txt\nHerons.");
  expect(notice).toMatch(/^Only the first 22 of 34 characters.* 2 more passages.* from_passage 2 to see them\.$/);
});

test("the first passage is where the arguments say", () => {
  const numbers = [null, {}, { from_passage: 3 }, { from_passage: "2" }, { from_passage: -1 }, { from_passage: "x" }];
  expect(numbers.map(fromPassage)).toEqual([1, 1, 3, 2, 1, 1]);
});
