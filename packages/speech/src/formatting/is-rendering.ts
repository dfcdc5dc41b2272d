import { Slices } from "@antiphon/base/limits/slices.ts";
import { distance } from "fastest-levenshtein";

/**
 * In texts of up to this many words, every pair of words is compared. Longer texts are compared without regard to
 * order.
 */
const ALIGNED_WORDS_MAX = 2500;
/** How many of the formatted text's words may be new. */
const NEW_SHARE_MAX = 0.2;
/** How many of the original's words must remain. The others may be fillers and false starts. */
const KEPT_SHARE_MIN = 0.45;
/** The same if numbers were written in figures, which replaces more words. */
const KEPT_SHARE_WITH_FIGURES_MIN = 0.2;

/** A formatted text may be this many times as long as the original, plus this many characters. */
const GROWTH_MAX = 4;
const GROWTH_CHARACTERS_MAX = 1000;
/** Longer words are compared for equality only. */
const COMPARED_CHARACTERS_MAX = 32;

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

/**
 * Whether a text is the original in better form, with the same words in the same order. Detects answers to the
 * original, refusals, and unrelated text.
 */
export async function isRendering(original: string, text: string): Promise<boolean> {
  if (text.length > original.length * GROWTH_MAX + GROWTH_CHARACTERS_MAX) return false;
  const slices = new Slices(); // Speech streams share this event loop.
  const before = await normalizedWords(original, slices);
  const after = await normalizedWords(text, slices);
  const words = after.filter((word) => !isFigure(word));
  const commonCount = await commonWords(before, words, slices);
  const newCount = words.length - commonCount;
  if (newCount > Math.floor(words.length * NEW_SHARE_MAX)) return false;
  const hasFigures = words.length < after.length;
  return (
    commonCount >=
    before.filter((word) => !isFigure(word)).length * (hasFigures ? KEPT_SHARE_WITH_FIGURES_MIN : KEPT_SHARE_MIN)
  );
}

async function normalizedWords(text: string, slices: Slices): Promise<string[]> {
  const words: string[] = [];
  for (const { segment, isWordLike } of WORDS.segment(text.toLowerCase().normalize("NFKC"))) {
    if (isWordLike === true) words.push(segment.replaceAll("’", "'"));
    if (slices.isOver) await slices.next();
  }
  return words;
}

function isFigure(word: string): boolean {
  return /^[\d.,:%]+(st|nd|rd|th)?$/.test(word);
}

/** The number of words that both texts have in the same order. */
async function commonWords(before: readonly string[], after: readonly string[], slices: Slices): Promise<number> {
  if (Math.max(before.length, after.length) > ALIGNED_WORDS_MAX) return commonWordsInAnyOrder(before, after);
  let row = new Uint16Array(after.length + 1);
  for (const word of before) {
    const next = new Uint16Array(after.length + 1);
    for (const [index, other] of after.entries()) {
      const longest = Math.max(row[index + 1] ?? 0, next[index] ?? 0);
      next[index + 1] = areAlike(word, other) ? Math.max(longest, (row[index] ?? 0) + 1) : longest;
    }
    row = next;
    if (slices.isOver) await slices.next();
  }
  return row[after.length] ?? 0;
}

function commonWordsInAnyOrder(before: readonly string[], after: readonly string[]): number {
  const remaining = new Map<string, number>();
  for (const word of before) remaining.set(word, (remaining.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of after) {
    const countLeft = remaining.get(word) ?? 0;
    if (countLeft > 0) common += 1;
    remaining.set(word, countLeft - 1);
  }
  return common;
}

/** Whether two words are equal or sound alike, such as "their" and "they're", or "to" and "too". */
function areAlike(a: string, b: string): boolean {
  if (a === b) return true;
  if (a.charCodeAt(0) !== b.charCodeAt(0) || Math.abs(a.length - b.length) > 2) return false;
  if (Math.max(a.length, b.length) > COMPARED_CHARACTERS_MAX) return false;
  return distance(a, b) <= Math.max(1, Math.floor(Math.min(a.length, b.length) / 3));
}
