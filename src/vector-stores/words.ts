import { stemmer } from "stemmer";

/** Finds words in every script, also where no blanks stand between them. */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** What is longer is no word, such as encoded data. */
const WORD_LENGTH_MAX = 64;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
/** Accents of Latin, Greek and Cyrillic letters. The marks of other scripts are part of their words. */
const ACCENTS = /[\u0300-\u036f]/g;
/** Some letters of compatibility come apart into letters and blanks or dots. */
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]+/gu;
const HALF_CHARACTER = /[\ud800-\udbff]$/;
const ENGLISH = /^[a-z]{3,}$/;
const CAMEL_HUMP = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/**
 * The words of a text in their order, as they are indexed and as questions are asked: in lower case, without accents,
 * English ones reduced to their stems. Names of code, such as `readFile` or `read_file`, count as a whole and by their
 * parts. SQLite's index changes none of them: they are letters, numbers and marks only, and a sigma at the end of a
 * word is written as any other.
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

/** Empty if the letters make no word. */
function wordOf(letters: string): string {
  const plain = letters.normalize("NFKD").replace(ACCENTS, "").replace(NO_LETTERS, "").normalize("NFC").toLowerCase();
  const word = plain.replaceAll("ς", "σ").slice(0, WORD_LENGTH_MAX).replace(HALF_CHARACTER, "");
  return ENGLISH.test(word) ? stemmer(word) : word;
}
