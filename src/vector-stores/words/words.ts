import { franc } from "franc";
import { ENGLISH, loadForms, STEMMED_LANGUAGES, type WordForms } from "./word-forms.ts";

/** Finds words in every script, even without blanks between them. */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** Longer numbers are cut. */
const NUMBER_PARTS_MAX = 8;
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]+/gu;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
const CAMEL_HUMP = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** The library looks at no more than 2,048 characters, so parts of a text stand for it. */
const PART_CHARACTERS = 680;
const PARTS = 3;
/** The least share of stop words in a text of sentences. Tables, code and lists of names have fewer. */
const STOP_WORDS_SHARE_MIN = 0.05;

/** The words of a text in order, for the index, in the forms of its language. See `WordForms`. */
export function* wordsOf(text: string, forms: WordForms): Generator<string, void> {
  for (const letters of lettersOf(text)) {
    const word = forms.formOf(letters);
    if (word !== "") yield word;
  }
}

/**
 * The words of a text in order, as they are written. Names in code, such as `readFile` or `read_file`, and numbers with
 * several parts, such as `2025-01-19` or `DE-4711`, count as a whole and by their parts.
 */
export function* lettersOf(text: string): Generator<string, void> {
  let number: readonly string[] = [];
  let isJoined = false;
  for (const { segment, isWordLike } of SEGMENTER.segment(text)) {
    if (isWordLike === true) {
      if (!isJoined) yield* wholeNumber(number);
      number = isJoined ? [...number, segment] : [segment];
      isJoined = false;
      yield* partsOf(segment);
    } else if (segment === "-" || segment === "/") {
      isJoined = !isJoined && number.length > 0 && number.length < NUMBER_PARTS_MAX;
    } else {
      yield* wholeNumber(number);
      [number, isJoined] = [[], false];
    }
  }
  yield* wholeNumber(number);
}

function* partsOf(segment: string): Generator<string, void> {
  const parts = segment.match(LETTERS)?.flatMap((letters) => letters.split(CAMEL_HUMP)) ?? [];
  if (parts.length > 1) yield parts.join("");
  yield* parts;
}

function* wholeNumber(parts: readonly string[]): Generator<string, void> {
  const whole = parts.join("");
  if (parts.length > 1 && /\d/.test(whole)) yield whole.replace(NO_LETTERS, "");
}

/** The forms of the language that most of a text is written in; English if it is no text of sentences. */
export async function formsOfText(text: string): Promise<WordForms> {
  const sample = sampleOf(text);
  const language = franc(sample, { only: [...STEMMED_LANGUAGES], minLength: 1 });
  if (language === ENGLISH || !STEMMED_LANGUAGES.includes(language)) return await loadForms(ENGLISH);
  const forms = await loadForms(language);
  const letters = [...lettersOf(sample)];
  const stopWords = letters.filter((word) => forms.isStopWord(word)).length;
  return stopWords >= letters.length * STOP_WORDS_SHARE_MIN ? forms : await loadForms(ENGLISH);
}

/** The beginning of a text, and parts from its middle and its end. */
function sampleOf(text: string): string {
  if (text.length <= PART_CHARACTERS * PARTS) return text;
  const starts = Array.from({ length: PARTS }, (_, part) =>
    Math.floor(((text.length - PART_CHARACTERS) * part) / (PARTS - 1)),
  );
  return starts.map((start) => text.slice(start, start + PART_CHARACTERS)).join("\n");
}
