import { describe, expect, test } from "vitest";
import { SENTENCE_CHARACTERS_MAX, SentenceCutter } from "./sentence-cutter.ts";

/** Checks the cuts for text that arrives at once, and one character at a time. */
function check(text: string, sentences: readonly string[]): void {
  expect(cut([text])).toEqual(sentences);
  expect(cut([...text]), "one character after the other").toEqual(sentences);
}

function cut(pieces: readonly string[]): readonly string[] {
  const cutter = new SentenceCutter();
  return [...pieces.flatMap((piece) => cutter.push(piece)), ...cutter.end()];
}

const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    "sentences",
    "It is raining today. Take an umbrella! Will you?",
    ["It is raining today.", "Take an umbrella! Will you?"],
  ],
  ["a short first sentence by itself", "Yes. I will do that for you.", ["Yes.", "I will do that for you."]],
  [
    "short later sentences together",
    "This is the first one. No. Not that. Yes, that will do.",
    ["This is the first one.", "No. Not that. Yes, that will do."],
  ],
  [
    "titles and initials not",
    "Dr. Smith met J. R. R. Tolkien in St. Ives. They talked.",
    ["Dr. Smith met J. R. R. Tolkien in St. Ives.", "They talked."],
  ],
  [
    "numbers not",
    "It costs $3.50 or 1,000.25 in all. Version 2.0.1 is better.",
    ["It costs $3.50 or 1,000.25 in all.", "Version 2.0.1 is better."],
  ],
  [
    "ordinals not, but years",
    "Der 3. Oktober ist frei. Das war 1990. Seither ist es so.",
    ["Der 3. Oktober ist frei.", "Das war 1990. Seither ist es so."],
  ],
  [
    "abbreviations in lower case not",
    "Bring fruit, e.g. Apples or pears. Then we eat.",
    ["Bring fruit, e.g. Apples or pears.", "Then we eat."],
  ],
  [
    "what was only a pause not",
    "Wait... and see what comes. It will come.",
    ["Wait... and see what comes.", "It will come."],
  ],
  [
    "after closing quotes and brackets",
    '"Come in!" she said. (He did.) And they sat down.',
    ['"Come in!" she said.', "(He did.) And they sat down."],
  ],
  [
    "Chinese",
    "今天天气很好。我们一起去公园散步，看看花，然后回家吃饭吧！好不好？",
    ["今天天气很好。", "我们一起去公园散步，看看花，然后回家吃饭吧！", "好不好？"],
  ],
  [
    "Japanese with brackets",
    "彼は「行こう」と言った。（本当に。）それから出かけて、夕方まで帰ってこなかった。",
    ["彼は「行こう」と言った。（本当に。）", "それから出かけて、夕方まで帰ってこなかった。"],
  ],
  ["paragraphs without stops", "A title\n\nThe text below it goes on", ["A title", "The text below it goes on"]],
  [
    "lines of a poem, but not wrapped lines",
    "Roses are red, my dear\nViolets are blue\nand so are you, my dear",
    ["Roses are red, my dear", "Violets are blue and so are you, my dear"],
  ],
  [
    "lists, with short items joined",
    "- Milk\n- Eggs\n- Bread from the bakery\n- Salt",
    ["Milk", "Eggs. Bread from the bakery", "Salt"],
  ],
  [
    "code blocks are left out",
    "Look at this:\n\n```ts\nconst a = 1. Then;\n\n# no\n```\n\nThat was the code.",
    ["Look at this:", "That was the code."],
  ],
  [
    "code between tildes, and a code block without an end",
    "One.\n~~~\nx\n~~~\nTwo of them here.\n````\ny\n```\nz",
    ["One.", "Two of them here."],
  ],
  [
    "inline code as its words",
    "Call ```now()``` or `then()` today. It helps.",
    ["Call now() or then() today.", "It helps."],
  ],
  ["URLs by their host", "See https://www.example.com/a.b?c=D#e. It is good.", ["See example.com", "It is good."]],
  [
    "links by their text",
    "Read [the manual](https://example.com/x?y=Z). And then ask.",
    ["Read the manual.", "And then ask."],
  ],
  ["nothing from text without words", "---\n\n***\n\n🎉 ✅\n\n| - | - |\n", []],
];

describe("sentences to speak", () => {
  test.each(CASES)("are cut: %s", (_title, text, sentences) => check(text, sentences));

  test("are complete when the next one begins", () => {
    const cutter = new SentenceCutter();
    expect(cutter.push("Hello there. ")).toEqual([]);
    expect(cutter.push("H")).toEqual(["Hello there."]);
    expect(cutter.push("ow are you?")).toEqual([]);
    expect(cutter.end()).toEqual(["How are you?"]);
  });

  test("end with the text, and new text can follow", () => {
    const cutter = new SentenceCutter();
    cutter.push("```\ncode without an end");
    expect(cutter.end()).toEqual([]);
    cutter.push("And on");
    expect(cutter.end()).toEqual(["And on"]);
  });

  test.each([
    ["after a clause", `${"word ".repeat(50)}end, ${"word ".repeat(60)}`, "end,"],
    ["after a word", "word ".repeat(200), "word"],
    ["between characters", "長".repeat(1000), "長"],
    ["between whole characters", "𠮷".repeat(500), "𠮷"],
  ])("are never longer than the limit: cut %s", (_title, text, lastOfFirst) => {
    const sentences = cut([text]);
    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences[0]?.endsWith(lastOfFirst)).toBe(true);
    for (const sentence of sentences) expect(sentence.length).toBeLessThanOrEqual(SENTENCE_CHARACTERS_MAX);
    expect(sentences.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
  });

  test("cost no more for endless code or text", () => {
    const cutter = new SentenceCutter();
    cutter.push("```\n");
    const started = performance.now();
    for (let index = 0; index < 20_000; index += 1) expect(cutter.push("no line end here ")).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
