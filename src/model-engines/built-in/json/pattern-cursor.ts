/** The pattern has something that the engine cannot write texts for. */
export class NotUnderstood extends Error {}

/** A place in a regular expression's source. */
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
    if (character === "") throw new NotUnderstood();
    this.#position += character.length;
    return character;
  }

  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.#position += character.length;
    return true;
  }

  /** What a sticky expression of ours finds here. */
  takeMatch(sticky: RegExp): readonly (string | undefined)[] | null {
    sticky.lastIndex = this.#position;
    const found = sticky.exec(this.#source);
    this.#position += found?.[0].length ?? 0;
    return found;
  }
}
