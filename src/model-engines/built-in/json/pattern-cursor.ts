/** The pattern uses something that the engine does not support. */
export class UnsupportedPattern extends Error {}

/** A reading position in the source of a regular expression. */
export class PatternCursor {
  readonly #source: string;
  #position = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get atEnd(): boolean {
    return this.#position >= this.#source.length;
  }

  peek(): string {
    const code = this.#source.codePointAt(this.#position);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  next(): string {
    const character = this.peek();
    if (character === "") throw new UnsupportedPattern();
    this.#position += character.length;
    return character;
  }

  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.#position += character.length;
    return true;
  }

  /** Matches a sticky expression here and moves behind the match. */
  takeMatch(sticky: RegExp): readonly (string | undefined)[] | null {
    sticky.lastIndex = this.#position;
    const found = sticky.exec(this.#source);
    this.#position += found?.[0].length ?? 0;
    return found;
  }
}
