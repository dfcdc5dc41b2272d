import { stemmer } from "stemmer";

/** Finds words in every script, even without blanks between them. */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** Longer strings are not words, such as encoded data. */
const WORD_LENGTH_MAX = 64;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
/** Accents of Latin, Greek and Cyrillic letters. The marks of other scripts are part of their words. */
const ACCENTS = /[\u0300-\u036f]/g;
/** Some compatibility characters decompose into letters and blanks or dots. */
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]+/gu;
const HALF_CHARACTER = /[\ud800-\udbff]$/;
const ENGLISH = /^[a-z]{3,}$/;
const CAMEL_HUMP = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/**
 * The words of a text in order, for the index and for questions: in lower case, without accents, English words as
 * stems. Names in code, such as `readFile` or `read_file`, count as a whole and by their parts. SQLite's index does not
 * change them: they consist of letters, numbers and marks only, and a final sigma is written like any other.
 */
export function* wordsOf(text: string): Generator<string, void> {
  for (const { segment, isWordLike } of SEGMENTER.segment(text)) if (isWordLike === true) yield* wordsIn(segment);
}

function* wordsIn(segment: string): Generator<string, void> {
  const parts = segment.match(LETTERS)?.flatMap((letters) => letters.split(CAMEL_HUMP)) ?? [];
  const whole = parts.length > 1 ? wordOf(parts.join("")) : "";
  if (whole !== "") yield whole;
  for (const part of parts) {
    const word = wordOf(part);
    if (word !== "") yield word;
  }
}

/** Empty if the letters are not a word. */
function wordOf(letters: string): string {
  const plain = letters.normalize("NFKD").replace(ACCENTS, "").replace(NO_LETTERS, "").normalize("NFC").toLowerCase();
  const word = plain.replaceAll("ς", "σ").slice(0, WORD_LENGTH_MAX).replace(HALF_CHARACTER, "");
  return ENGLISH.test(word) ? stemmer(word) : word;
}
