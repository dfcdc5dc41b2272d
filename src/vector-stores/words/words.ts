import type { WordForms } from "./word-forms.ts";

/** Finds words in every script, even without blanks between them. */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** Longer numbers are cut. */
const NUMBER_PARTS_MAX = 8;
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]+/gu;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
/** Most words: a name in code has capitals, numbers or marks. */
const SMALL_LETTERS = /^[\p{Lu}\p{Ll}]\p{Ll}*$/u;
const CAMEL_HUMP = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

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
  if (SMALL_LETTERS.test(segment)) {
    yield segment;
    return;
  }
  const parts = segment.match(LETTERS)?.flatMap((letters) => letters.split(CAMEL_HUMP)) ?? [];
  if (parts.length > 1) yield parts.join("");
  yield* parts;
}

function* wholeNumber(parts: readonly string[]): Generator<string, void> {
  const whole = parts.join("");
  if (parts.length > 1 && /\d/.test(whole)) yield whole.replace(NO_LETTERS, "");
}
