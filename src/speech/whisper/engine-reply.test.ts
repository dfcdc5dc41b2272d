import { describe, expect, test } from "vitest";
import { type Heard, isUnsure, looksWrong, readReply, repeatsPrompt, surerOf, toldOnce } from "./engine-reply.ts";
import { engineLanguage, isKnownLanguage, languageCode } from "./languages.ts";

describe("a reply of the engine", () => {
  test("is read with its segments and times, without those that say nothing", () => {
    const body = {
      language: "german",
      segments: [
        { text: " Guten Tag.", start: 0.5, end: 1.25, avg_logprob: -0.3 },
        { text: "  ", start: 1.25, end: 2 },
        { text: "!", start: 3, end: 2.5 },
      ],
    };
    expect(readReply(body)).toEqual({
      languageName: "german",
      segments: [
        { text: " Guten Tag.", startMs: 500, endMs: 1250, logProbability: -0.3 },
        { text: "!", startMs: 3000, endMs: 3000, logProbability: 0 },
      ],
    });
  });

  test.each([null, "text", {}, { segments: "none" }, []])("is none if it is %j", (body) => {
    expect(readReply(body)).toBeNull();
  });
});

describe("what a shortened window may have spoilt", () => {
  const heard = (text: string, logProbability = -0.2): Heard => ({
    languageName: "english",
    segments: text === "" ? [] : [{ text, startMs: 0, endMs: 1000, logProbability }],
  });

  const segments = (...said: readonly (readonly [text: string, endMs: number])[]): Heard => ({
    languageName: "english",
    segments: said.map(([text, endMs]) => ({ text, startMs: 0, endMs, logProbability: -0.2 })),
  });

  test.each([
    { what: "an ordinary sentence", given: heard(" This is what somebody says."), wrong: false },
    { what: "text faster than speech", given: heard("abcd ".repeat(30)), wrong: true },
    { what: "doubt", given: heard(" Maybe.", -1.4), wrong: true },
    { what: "a loop", given: heard(" I am so so. I am so so. I am so so. I am so so."), wrong: true },
    { what: "a word said three times", given: heard(" no no no"), wrong: false },
    { what: "a segment told twice", given: segments([" Ask what.", 2000], [" ask, what", 4000]), wrong: true },
    { what: "different segments", given: segments([" Ask what.", 2000], [" Ask who.", 4000]), wrong: false },
    { what: "marks that follow each other", given: segments([" ...", 2000], [" ...", 4000]), wrong: false },
    { what: "an end shortly after the sound", given: segments([" Ask what.", 5900]), wrong: false },
    { what: "an end long after the sound", given: segments([" Ask what.", 5920]), wrong: true },
    { what: "no end, for which the engine puts that of its window", given: segments([" Ask.", 30_000]), wrong: false },
  ])("is found by $what: $wrong", ({ given, wrong }) => {
    expect(looksWrong(given, { seconds: 4, isLoud: true })).toBe(wrong);
  });

  test("is found by no text only where it was loud", () => {
    const found = [true, false].map((isLoud) => looksWrong(heard(""), { seconds: 2, isLoud }));
    expect(found).toEqual([true, false]);
  });
});

describe("an end long after the sound", () => {
  const segment = (logProbability: number) => ({ text: " I am sorry.", startMs: 0, endMs: 7000, logProbability });

  test.each([
    { of: [-0.1], wrong: true },
    { of: [-0.09], wrong: false },
    { of: [-0.05, -0.05], wrong: true },
  ])("tells nothing of one segment that the engine is certain of, $of: $wrong", ({ of, wrong }) => {
    const segments = of.map((logProbability, index) => ({
      ...segment(logProbability),
      text: index === 0 ? " Hello." : " I am sorry.",
    }));
    expect(looksWrong({ languageName: "english", segments }, { seconds: 3, isLoud: true })).toBe(wrong);
  });
});

describe("a phrase that is told again and again", () => {
  const told = (texts: readonly string[], seconds: number): string[] => {
    const segments = texts.map((text) => ({ text, startMs: 20, endMs: 30_000, logProbability: -0.2 }));
    const { segments: once } = toldOnce({ languageName: "english", segments }, { seconds });
    return once.map(({ text, startMs, endMs }) => `${startMs}-${endMs}${text}`);
  };
  const NUMBER = " The number is not answering.";

  test.each([
    { what: "in one segment", texts: [NUMBER.repeat(30)] },
    { what: "and broken off", texts: [`${NUMBER.repeat(3)} The number is n`] },
    { what: "in two segments, which are written differently", texts: [NUMBER, NUMBER.replace("The", "the")] },
  ])("$what, faster than speech, is told once", ({ texts }) => {
    expect(told(texts, 1.7)).toEqual([`20-1700${NUMBER}`]);
  });

  test.each([
    { what: "as slowly as people speak", text: NUMBER.repeat(2), seconds: 4 },
    { what: "and is no more than two words long", text: " thank you".repeat(9), seconds: 2 },
    { what: "and is too long for the sound itself", text: ` ${"abcdefgh ".repeat(8)}`.repeat(2), seconds: 1 },
    { what: "with other words between", text: `${NUMBER.repeat(2)} Goodbye.${NUMBER}`, seconds: 1.7 },
    { what: "inside of a word", text: ` He was not an old${"-s-y".repeat(50)}`, seconds: 3 },
  ])("$what stays as it is", ({ text, seconds }) => {
    expect(told([text], seconds)).toEqual([`20-30000${text}`]);
  });

  test("which was not told at all stays nothing", () => {
    expect(told([], 2)).toEqual([]);
  });
});

describe("the engine's doubt", () => {
  const heard = (...logProbabilities: readonly number[]): Heard => ({
    languageName: "english",
    segments: logProbabilities.map((logProbability) => ({ text: " Yes.", startMs: 0, endMs: 1000, logProbability })),
  });

  test.each([
    { of: [-0.2], unsure: false },
    { of: [-0.31], unsure: true },
    { of: [-0.1, -0.45], unsure: false },
    { of: [-0.3, -0.45], unsure: true },
    { of: [], unsure: false },
  ])("counts below -0.3 as the mean of the segments, $of: $unsure", ({ of, unsure }) => {
    expect(isUnsure(heard(...of))).toBe(unsure);
  });

  test("decides between two answers, of which one without words is never taken", () => {
    const [unsure, sure, silent] = [heard(-0.4, -0.4), heard(-0.3), heard()];
    expect(surerOf(unsure, sure)).toBe(sure);
    expect(surerOf(sure, unsure)).toBe(sure);
    expect(surerOf(unsure, silent)).toBe(unsure);
    expect(surerOf(unsure, heard(-0.4))).toBe(unsure);
  });
});

test.each([
  { what: "the end of what was said", prompt: "Press one. Please hold.", text: " please hold", repeats: true },
  { what: "something new", prompt: "Press one. Please hold.", text: " Please hold on.", repeats: false },
  { what: "nothing", prompt: "Press one.", text: "", repeats: false },
])("$what repeats what was said before: $repeats", ({ prompt, text, repeats }) => {
  const heard = { languageName: "english", segments: [{ text, startMs: 0, endMs: 1000, logProbability: -0.2 }] };
  expect(repeatsPrompt(heard, prompt)).toBe(repeats);
});

describe("languages", () => {
  test.each([
    ["en-GB", true, true],
    ["de", true, false],
    ["tlh", false, false],
  ])("%s is known to models of all languages: %s, and of English: %s", (tag, isKnown, isEnglish) => {
    expect([isKnownLanguage(tag, true), isKnownLanguage(tag, false)]).toEqual([isKnown, isEnglish]);
  });

  test.each([
    ["en", "en"],
    ["EN-us", "en"],
    ["pt-BR", "pt"],
    ["nb", "no"],
    ["tlh", "auto"],
    ["", "auto"],
    ["../x", "auto"],
    [null, "auto"],
  ])("%j is asked for as %s", (tag, code) => {
    expect(engineLanguage(tag)).toBe(code);
  });

  test.each([
    ["english", "en"],
    ["maori", "mi"],
    ["haitian creole", "ht"],
    ["klingon", null],
    [null, null],
  ])("%j that was heard is %j", (name, code) => {
    expect(languageCode(name)).toBe(code);
  });
});
