import type { SkillInput } from "./skill.ts";

const NUMBERS_MAX = 1000;
const WORDS_MAX = 5000;
const NUMBER_WORDS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const COUNTING = /\bcount\s+(?:from\s+(\w{1,9})\s+)?(?:up\s+|down\s+)?to\s+(\w{1,9})\b/i;
const WRITING = /\b(?:write|give|generate|produce|tell|say|send|stream|make)\b.{0,60}?\b(\d{1,9})[\s-]words?\b/is;
const STORY =
  "the first voice sings and the second voice answers so that every verse comes back across the quiet hall while evening light falls on the old stone floor".split(
    " ",
  );

/** Answers "count to N" and "count from M to N" with at most 1000 numbers. */
export function countNumbers({ text }: SkillInput): string | null {
  const [, first, last] = COUNTING.exec(text) ?? [];
  const from = first === undefined ? 1 : readNumber(first);
  const to = last === undefined ? null : readNumber(last);
  if (from === null || to === null) return null;
  const step = from <= to ? 1 : -1;
  const count = Math.min(Math.abs(to - from) + 1, NUMBERS_MAX);
  return Array.from({ length: count }, (_, index) => from + index * step).join(" ");
}

/** Answers "write N words" with exactly N words, at most 5000, for clients that need a long stream. */
export function writeWords({ text }: SkillInput): string | null {
  const count = Math.min(Number(WRITING.exec(text)?.[1] ?? 0), WORDS_MAX);
  if (count === 0) return null;
  return Array.from({ length: count }, (_, index) => STORY[index % STORY.length]).join(" ");
}

function readNumber(word: string): number | null {
  if (/^\d+$/.test(word)) return Number(word);
  const number = NUMBER_WORDS.indexOf(word.toLowerCase());
  return number === -1 ? null : number;
}
