import type { EngineModel } from "../engine-api.ts";

const REPLACEMENT = "\uFFFD";
/** A character has at most four bytes, and a token at least one. */
const TOKENS_OF_CHARACTER_MAX = 4;
/** The tokens before, by which some vocabularies decide on a blank. */
const LAST_TOKENS = 8;

/** Turns tokens into text, and holds back the bytes of half a character. */
export class TextStream {
  readonly #model: Pick<EngineModel, "detokenize">;
  readonly #last: number[];
  #pending: number[] = [];

  constructor(model: Pick<EngineModel, "detokenize">, before: readonly number[]) {
    this.#model = model;
    this.#last = before.slice(-LAST_TOKENS);
  }

  /** The text that has become whole; may be empty. */
  add(token: number): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, false, this.#last);
    const isHalf = text.endsWith(REPLACEMENT) && this.#pending.length < TOKENS_OF_CHARACTER_MAX;
    return isHalf ? "" : this.#release(text);
  }

  /** What is still held back. */
  end(): string {
    return this.#pending.length === 0 ? "" : this.#release(this.#model.detokenize(this.#pending, false, this.#last));
  }

  #release(text: string): string {
    this.#last.push(...this.#pending);
    this.#last.splice(0, Math.max(0, this.#last.length - LAST_TOKENS));
    this.#pending = [];
    return text;
  }
}
