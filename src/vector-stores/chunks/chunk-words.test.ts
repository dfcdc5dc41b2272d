import { expect, test } from "vitest";
import { loadForms } from "../words/word-forms.ts";
import { wordsOf } from "../words/words.ts";
import { ChunkWords } from "./chunk-words.ts";
import { cutText } from "./cut-text.ts";

const ENGLISH = await loadForms("eng");
const SENTENCES = Array.from({ length: 60 }, (_, index) => `The fox no. ${index} of 2025-01-${index} can't jump.`);

test.each([
  ["sentences", SENTENCES.join(" "), 40, 20],
  ["lines", SENTENCES.join("\n"), 60, 30],
  ["chunks that share nothing", SENTENCES.join("\n"), 40, 0],
  ["Chinese, which has no blanks", "中国的首都是北京。它有很多人口，也有很多大学，地铁很方便。".repeat(40), 50, 25],
  ["one word without an end", "readFileOf".repeat(400), 40, 20],
  ["numbers with many parts", "2025-01-19/".repeat(200), 40, 20],
])("the words of each chunk are those of its text alone: %s", (_name, text, sizeMax, overlapMax) => {
  const count = (part: string): number => Math.ceil(part.length / 4);
  const options = { sizeMax, overlapMax, tokensMax: 1e6, layout: "plain", count } as const;
  const ranges = [...cutText(text, options)];
  expect(ranges.length).toBeGreaterThan(3);
  const words = new ChunkWords(text, ENGLISH, (part) => part.replaceAll("of", "of "));
  for (const [index, range] of ranges.entries()) {
    const ownText = text.slice(range.start, range.end).replaceAll("of", "of ");
    const nextStart = ranges[index + 1]?.start ?? range.end;
    expect(words.wordsIn(range, nextStart)).toEqual([...wordsOf(ownText, ENGLISH)]);
  }
});

test("what two chunks share is cut into words once", () => {
  const parts: string[] = [];
  const words = new ChunkWords("one two three four", ENGLISH, (part) => {
    parts.push(part);
    return part;
  });
  expect(words.wordsIn({ start: 0, end: 13 }, 4)).toEqual(["on", "two", "three"]);
  expect(words.wordsIn({ start: 4, end: 18 }, 18)).toEqual(["two", "three", "four"]);
  expect(parts).toEqual(["one ", "two three", " four"]);
});
