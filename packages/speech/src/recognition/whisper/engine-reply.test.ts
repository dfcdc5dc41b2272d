import { describe, expect, test } from "vitest";
import {
  type EngineReply,
  isUnsure,
  looksWrong,
  moreConfident,
  readEngineReply,
  repeatsPrompt,
  withoutRepetition,
} from "./engine-reply.ts";
import { engineLanguage, isKnownLanguage, languageCode } from "./languages.ts";

describe("an engine reply", () => {
  test("is read with its segments and times, without empty segments", () => {
    const body = {
      language: "german",
      segments: [
        { text: " Guten Tag.", start: 0.5, end: 1.25, avg_logprob: -0.3 },
        { text: "  ", start: 1.25, end: 2 },
        { text: "!", start: 3, end: 2.5 },
      ],
    };
    expect(readEngineReply(body)).toEqual({
      languageName: "german",
      segments: [
        { text: " Guten Tag.", startMs: 500, endMs: 1250, logProbability: -0.3 },
        { text: "!", startMs: 3000, endMs: 3000, logProbability: 0 },
      ],
    });
  });

  test.each([null, "text", {}, { segments: "none" }, []])("is rejected if it is %j", (body) => {
    expect(readEngineReply(body)).toBeNull();
  });
});

describe("an answer to a shortened window", () => {
  const heard = (text: string, logProbability = -0.2): EngineReply => ({
    languageName: "english",
    segments: text === "" ? [] : [{ text, startMs: 0, endMs: 1000, logProbability }],
  });

  const segments = (...said: readonly (readonly [text: string, endMs: number])[]): EngineReply => ({
    languageName: "english",
    segments: said.map(([text, endMs]) => ({ text, startMs: 0, endMs, logProbability: -0.2 })),
  });

  test.each([
    { what: "an ordinary sentence", given: heard(" This is what somebody says."), wrong: false },
    { what: "text faster than speech", given: heard("abcd ".repeat(30)), wrong: true },
    { what: "low confidence", given: heard(" Maybe.", -1.4), wrong: true },
    { what: "a loop", given: heard(" I am so so. I am so so. I am so so. I am so so."), wrong: true },
    { what: "a word said three times", given: heard(" no no no"), wrong: false },
    { what: "a repeated segment", given: segments([" Ask what.", 2000], [" ask, what", 4000]), wrong: true },
    { what: "different segments", given: segments([" Ask what.", 2000], [" Ask who.", 4000]), wrong: false },
    { what: "repeated punctuation", given: segments([" ...", 2000], [" ...", 4000]), wrong: false },
    { what: "an end shortly after the sound", given: segments([" Ask what.", 5900]), wrong: false },
    { what: "an end long after the sound", given: segments([" Ask what.", 5920]), wrong: true },
    {
      what: "the end of the longest window, which means no known end",
      given: segments([" Ask.", 30_000]),
      wrong: false,
    },
  ])("with $what looks wrong: $wrong", ({ given, wrong }) => {
    expect(looksWrong(given, { seconds: 4, isLoud: true })).toBe(wrong);
  });

  test("without text looks wrong only if the sound was loud", () => {
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
  ])("looks wrong unless it is of a single segment with high confidence, $of: $wrong", ({ of, wrong }) => {
    const segments = of.map((logProbability, index) => ({
      ...segment(logProbability),
      text: index === 0 ? " Hello." : " I am sorry.",
    }));
    expect(looksWrong({ languageName: "english", segments }, { seconds: 3, isLoud: true })).toBe(wrong);
  });
});

describe("a repeated phrase", () => {
  const told = (texts: readonly string[], seconds: number): string[] => {
    const segments = texts.map((text) => ({ text, startMs: 20, endMs: 30_000, logProbability: -0.2 }));
    const { segments: once } = withoutRepetition({ languageName: "english", segments }, { seconds });
    return once.map(({ text, startMs, endMs }) => `${startMs}-${endMs}${text}`);
  };
  const NUMBER = " The number is not answering.";

  test.each([
    { what: "in one segment", texts: [NUMBER.repeat(30)] },
    { what: "cut off at the end", texts: [`${NUMBER.repeat(3)} The number is n`] },
    { what: "in two segments with different spelling", texts: [NUMBER, NUMBER.replace("The", "the")] },
  ])("$what, faster than speech, is reduced to one", ({ texts }) => {
    expect(told(texts, 1.7)).toEqual([`20-1700${NUMBER}`]);
  });

  test.each([
    { what: "at the speed of speech", text: NUMBER.repeat(2), seconds: 4 },
    { what: "of two words", text: " thank you".repeat(9), seconds: 2 },
    { what: "that alone is too long for the sound", text: ` ${"abcdefgh ".repeat(8)}`.repeat(2), seconds: 1 },
    { what: "with other words between", text: `${NUMBER.repeat(2)} Goodbye.${NUMBER}`, seconds: 1.7 },
    { what: "inside a word", text: ` He was not an old${"-s-y".repeat(50)}`, seconds: 3 },
  ])("$what is left unchanged", ({ text, seconds }) => {
    expect(told([text], seconds)).toEqual([`20-30000${text}`]);
  });

  test("is not made up from no text", () => {
    expect(told([], 2)).toEqual([]);
  });
});

describe("the engine's confidence", () => {
  const heard = (...logProbabilities: readonly number[]): EngineReply => ({
    languageName: "english",
    segments: logProbabilities.map((logProbability) => ({ text: " Yes.", startMs: 0, endMs: 1000, logProbability })),
  });

  test.each([
    { of: [-0.2], unsure: false },
    { of: [-0.31], unsure: true },
    { of: [-0.1, -0.45], unsure: false },
    { of: [-0.3, -0.45], unsure: true },
    { of: [], unsure: false },
  ])("is low below a mean of -0.3, $of: $unsure", ({ of, unsure }) => {
    expect(isUnsure(heard(...of))).toBe(unsure);
  });

  test("decides between two answers; a second answer without words is never chosen", () => {
    const unsure = heard(-0.4, -0.4);
    const sure = heard(-0.3);
    const silent = heard();
    expect(moreConfident(unsure, sure)).toBe(sure);
    expect(moreConfident(sure, unsure)).toBe(sure);
    expect(moreConfident(unsure, silent)).toBe(unsure);
    expect(moreConfident(unsure, heard(-0.4))).toBe(unsure);
  });
});

test.each([
  { what: "the end of the prompt", prompt: "Press one. Please hold.", text: " please hold", repeats: true },
  { what: "something new", prompt: "Press one. Please hold.", text: " Please hold on.", repeats: false },
  { what: "nothing", prompt: "Press one.", text: "", repeats: false },
])("$what repeats the prompt: $repeats", ({ prompt, text, repeats }) => {
  const heard = { languageName: "english", segments: [{ text, startMs: 0, endMs: 1000, logProbability: -0.2 }] };
  expect(repeatsPrompt(heard, prompt)).toBe(repeats);
});

describe("languages", () => {
  test.each([
    ["en-GB", true, true],
    ["de", true, false],
    ["tlh", false, false],
  ])("%s is known to multilingual models: %s, to English models: %s", (tag, isKnown, isEnglish) => {
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
  ])("%j is sent to the engine as %s", (tag, code) => {
    expect(engineLanguage(tag)).toBe(code);
  });

  test.each([
    ["english", "en"],
    ["maori", "mi"],
    ["haitian creole", "ht"],
    ["klingon", null],
    [null, null],
  ])("the engine's language name %j has the code %j", (name, code) => {
    expect(languageCode(name)).toBe(code);
  });
});
