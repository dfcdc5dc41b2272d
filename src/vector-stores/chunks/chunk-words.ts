import type { WordForms } from "../words/word-forms.ts";
import { wordsOf } from "../words/words.ts";
import type { TextRange } from "./cut-text.ts";

const BLANK = /\s/;

/** The words of ranges of a text, in the order of the ranges. What two of them share is cut into words once. */
export class ChunkWords {
  readonly #text: string;
  readonly #forms: WordForms;
  /** Changes a part of the text before it is cut. Nothing that depends on what is around the part. */
  readonly #prepare: (part: string) => string;
  /** The end of the last range, which the next one begins with. */
  #shared: { readonly start: number; readonly end: number; readonly words: readonly string[] } | null = null;

  constructor(text: string, forms: WordForms, prepare: (part: string) => string) {
    this.#text = text;
    this.#forms = forms;
    this.#prepare = prepare;
  }

  /** `nextStart`: where the next range begins. */
  wordsIn({ start, end }: Pick<TextRange, "start" | "end">, nextStart: number): readonly string[] {
    const shared = this.#shared?.start === start && this.#shared.end <= end ? this.#shared : null;
    const from = shared?.end ?? start;
    const isShared = nextStart >= from && nextStart < end && this.#isApart(nextStart) && this.#isApart(end);
    const middle = isShared ? nextStart : end;
    const ownWords = this.#read(from, middle);
    const nextWords = this.#read(middle, end);
    this.#shared = isShared ? { start: middle, end, words: nextWords } : null;
    return [...(shared?.words ?? []), ...ownWords, ...nextWords];
  }

  #read(start: number, end: number): readonly string[] {
    return start === end ? [] : [...wordsOf(this.#prepare(this.#text.slice(start, end)), this.#forms)];
  }

  /** Whether no word goes across this place. */
  #isApart(place: number): boolean {
    return place === this.#text.length || BLANK.test(this.#text.slice(place - 1, place + 1));
  }
}
