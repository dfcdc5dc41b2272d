import { expect, test } from "vitest";
import { spokenWords, wordErrors } from "./word-errors.ts";

test.each<{ text: string; words: string }>([
  { text: "Mr. Dashwood's well-known, isn't it?", words: "mister dashwoods well known is not it" },
  { text: "I'm sure you can't press #.", words: "i am sure you can not press pound" },
  { text: "Press 1, 12 or 45.", words: "press one twelve or forty five" },
  { text: " ", words: "" },
])("$text gives the same words as its other spellings", ({ text, words }) => {
  expect(spokenWords(text).join(" ")).toBe(words);
});

test.each<{ what: string; heard: string; errors: number }>([
  { what: "the same words", heard: "ask what you can do", errors: 0 },
  { what: "another word", heard: "ask what you could do", errors: 1 },
  { what: "a word left out and one added", heard: "ask you can do it", errors: 2 },
  { what: "everything twice", heard: "ask what you can do ask what you can do", errors: 5 },
  { what: "a word in two parts", heard: "ask wh at you can do", errors: 0 },
  { what: "nothing", heard: "", errors: 5 },
])("$what is $errors word errors", ({ heard, errors }) => {
  expect(wordErrors(spokenWords("Ask what you can do."), spokenWords(heard))).toBe(errors);
});
