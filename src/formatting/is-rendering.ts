import { distance } from "fastest-levenshtein";
import { Slices } from "../base/limits/slices.ts";

/** Up to here every pair of words is compared; longer texts are compared as heaps of words. */
const ALIGNED_WORDS_MAX = 2500;
/** Of the words of a rendering, how many may be new. */
const NEW_SHARE_MAX = 0.2;
/** Of the words of the original, how many must still be there: fillers and false starts go. */
const KEPT_SHARE_MIN = 0.45;
/** Where numbers were written in figures, fewer words are left. */
const KEPT_SHARE_WITH_FIGURES_MIN = 0.2;

/** A text in better form is at most so many times as long, and so many characters more. */
const GROWTH_MAX = 4;
const GROWTH_CHARACTERS_MAX = 1000;
/** Longer words are the same or are not. */
const COMPARED_CHARACTERS_MAX = 32;

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

/**
 * Whether a text is another in better form, with the same words in the same order, and not an answer to it, a refusal,
 * or something of its own.
 */
export async function isRendering(original: string, text: string): Promise<boolean> {
  if (text.length > original.length * GROWTH_MAX + GROWTH_CHARACTERS_MAX) return false;
  const slices = new Slices(); // Sound waits on the same loop.
  const before = await wordsOf(original, slices);
  const after = await wordsOf(text, slices);
  const spoken = after.filter((word) => !isFigure(word));
  const kept = await commonWords(before, spoken, slices);
  const added = spoken.length - kept;
  if (added > Math.floor(spoken.length * NEW_SHARE_MAX)) return false;
  const hasFigures = spoken.length < after.length;
  return (
    kept >=
    before.filter((word) => !isFigure(word)).length * (hasFigures ? KEPT_SHARE_WITH_FIGURES_MIN : KEPT_SHARE_MIN)
  );
}

async function wordsOf(text: string, slices: Slices): Promise<string[]> {
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

/** How many words both have, in the same order. */
async function commonWords(before: readonly string[], after: readonly string[], slices: Slices): Promise<number> {
  if (Math.max(before.length, after.length) > ALIGNED_WORDS_MAX) return commonHeap(before, after);
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

function commonHeap(before: readonly string[], after: readonly string[]): number {
  const heap = new Map<string, number>();
  for (const word of before) heap.set(word, (heap.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of after) {
    const left = heap.get(word) ?? 0;
    if (left > 0) common += 1;
    heap.set(word, left - 1);
  }
  return common;
}

/** The same word, or the same heard differently: their and they're, to and too. */
function areAlike(a: string, b: string): boolean {
  if (a === b) return true;
  if (a.charCodeAt(0) !== b.charCodeAt(0) || Math.abs(a.length - b.length) > 2) return false;
  if (Math.max(a.length, b.length) > COMPARED_CHARACTERS_MAX) return false;
  return distance(a, b) <= Math.max(1, Math.floor(Math.min(a.length, b.length) / 3));
}
