import { expect, test } from "vitest";
import { questionWords } from "./question-words.ts";

test.each<readonly [question: string, languages: readonly string[], words: readonly (readonly string[])[]]>([
  ["How do the herons hunt?", [], [["heron"], ["hunt"]]],
  [
    "Wie heizen die Häuser?",
    ["deu"],
    [
      ["heizen", "heiz"],
      ["hauser", "haus"],
    ],
  ],
  ["Why do the herons die?", ["deu"], [["heron"], ["die"]]],
  ["les chevaux mangés", ["fra", "eng"], [["chevaux", "cheval"], ["mang"]]],
  ["informacion, información", ["spa"], [["informacion", "inform"]]],
  [
    "большие города",
    ["rus"],
    [
      ["большие", "больш"],
      ["города", "город"],
    ],
  ],
  ["to be or not to be", [], [["to"], ["be"], ["or"], ["not"]]],
  ["東京の首都", [], [["東京"], ["の"], ["首都"]]],
  ["ein zwei", ["xxx"], [["ein"], ["zwei"]]],
  ["»« !", ["deu"], []],
])("the words of %s in stores of %j", async (question, languages, words) => {
  expect((await questionWords(question, languages)).words).toEqual(words);
});

test("a long question is cut to a number of words that can be looked up", async () => {
  const words = Array.from({ length: 500 }, (_, index) => `word${index}`);
  expect((await questionWords(words.join(" "), [])).words).toHaveLength(64);
  expect((await questionWords("x ".repeat(200_000), [])).words).toEqual([["x"]]);
});

test("stop words are apart in the forms of all languages", async () => {
  expect((await questionWords("Why do the herons die?", ["deu"])).stopWords).toEqual([["why"], ["do"], ["the"]]);
  expect((await questionWords("to be", ["deu"])).stopWords).toEqual([]);
});
