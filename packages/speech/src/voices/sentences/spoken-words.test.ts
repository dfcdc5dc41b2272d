import { expect, test } from "vitest";
import { spokenWords } from "./spoken-words.ts";

const CASES: readonly (readonly [string, string])[] = [
  ["**Bold**, *slanted*, __strong__ and ~~gone~~.", "Bold, slanted, strong and gone."],
  ["## A heading", "A heading"],
  ["> Quoted > text", "Quoted > text"],
  ["- [x] Done\n- [ ] Open", "Done. Open"],
  ["1. First", "1. First"],
  ["2 * 3 = 6", "2 * 3 = 6"],
  ["snake_case_name and _slanted_", "snake case name and slanted"],
  ["![A cat](cat.png) sleeps", "A cat sleeps"],
  ["See <https://example.com/x>.", "See example.com"],
  ["a<br>b and 1 < 2", "a b and 1 < 2"],
  ["As shown[^1].", "As shown."],
  ["| Name | Age |\n|------|:---:|\n| Ann | 7 |", "Name, Age. Ann, 7"],
  ["Good 👍🏽 work 👨‍👩‍👧!", "Good work!"],
  ["[[phonemes]]", "phonemes"],
  ["Grüße, ¿qué tal? 你好！", "Grüße, ¿qué tal? 你好！"],
  ["***", ""],
  ["...", ""],
];

test.each(CASES)("%j is spoken as %j", (markdown, words) => {
  expect(spokenWords(markdown)).toBe(words);
});
