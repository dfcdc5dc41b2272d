/** Up to here every pair of words is compared; longer texts are compared as heaps of words. */
const ALIGNED_WORDS_MAX = 2500;
/** Of the words of a rendering, how many may be new. */
const NEW_SHARE_MAX = 0.2;
/** Of the words of the original, how many must still be there: fillers and false starts go. */
const KEPT_SHARE_MIN = 0.45;
/** Where numbers were written in figures, fewer words are left. */
const KEPT_SHARE_WITH_FIGURES_MIN = 0.2;

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

/** Whether a text is another in better form, with the same words in the same order, and not an answer to it, a refusal, or something of its own. */
export function isRendering(original: string, text: string): boolean {
  const before = wordsOf(original);
  const after = wordsOf(text);
  const spoken = after.filter((word) => !isFigure(word));
  const kept = commonWords(before, spoken);
  const added = spoken.length - kept;
  if (added > Math.floor(spoken.length * NEW_SHARE_MAX)) return false;
  const hasFigures = spoken.length < after.length;
  return (
    kept >=
    before.filter((word) => !isFigure(word)).length * (hasFigures ? KEPT_SHARE_WITH_FIGURES_MIN : KEPT_SHARE_MIN)
  );
}

function wordsOf(text: string): string[] {
  return [...WORDS.segment(text.toLowerCase().normalize("NFKC"))].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment.replaceAll("’", "'")] : [],
  );
}

function isFigure(word: string): boolean {
  return /^[\d.,:%]+(st|nd|rd|th)?$/.test(word);
}

/** How many words both have, in the same order. */
function commonWords(before: readonly string[], after: readonly string[]): number {
  if (Math.max(before.length, after.length) > ALIGNED_WORDS_MAX) return commonHeap(before, after);
  let row = new Uint16Array(after.length + 1);
  for (const word of before) {
    const next = new Uint16Array(after.length + 1);
    for (const [index, other] of after.entries()) {
      const longest = Math.max(row[index + 1] ?? 0, next[index] ?? 0);
      next[index + 1] = areAlike(word, other) ? Math.max(longest, (row[index] ?? 0) + 1) : longest;
    }
    row = next;
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
  if (a[0] !== b[0] || Math.abs(a.length - b.length) > 2) return false;
  return changes(a, b) <= Math.max(1, Math.floor(Math.min(a.length, b.length) / 3));
}

/** Letters to change, add or leave out to get from one word to the other. */
function changes(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const same = (row[j] ?? 0) + (letter === b[j] ? 0 : 1);
      next.push(Math.min(same, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
