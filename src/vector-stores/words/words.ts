import { BREAK, segmentsOf } from "./segments.ts";
import type { WordForms } from "./word-forms.ts";

/** Longer numbers are cut. */
const NUMBER_PARTS_MAX = 8;
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]+/gu;
const LETTERS = /[\p{L}\p{N}\p{M}]+/gu;
/** Most words: a name in code has capitals, numbers or marks. */
const SMALL_LETTERS = /^[A-Za-z][a-z]*$|^[\p{Lu}\p{Ll}]\p{Ll}*$/u;
const NO_PARTS: readonly string[] = [];
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
  let number: readonly string[] = NO_PARTS;
  let isJoined = false;
  for (const segments of segmentsOf(text))
    for (const segment of segments)
      if (segment === BREAK) {
        if (number.length > 1) yield* wholeNumber(number);
        [number, isJoined] = [NO_PARTS, false];
      } else if (segment === "-" || segment === "/") {
        isJoined = !isJoined && number.length > 0 && number.length < NUMBER_PARTS_MAX;
      } else {
        if (!isJoined && number.length > 1) yield* wholeNumber(number);
        number = isJoined ? [...number, segment] : [segment];
        isJoined = false;
        if (SMALL_LETTERS.test(segment)) yield segment;
        else yield* partsOf(segment);
      }
}

function* partsOf(segment: string): Generator<string, void> {
  const parts = segment.match(LETTERS)?.flatMap((letters) => letters.split(CAMEL_HUMP)) ?? [];
  if (parts.length > 1) yield parts.join("");
  yield* parts;
}

function* wholeNumber(parts: readonly string[]): Generator<string, void> {
  const whole = parts.join("");
  if (/\d/.test(whole)) yield whole.replace(NO_LETTERS, "");
}
