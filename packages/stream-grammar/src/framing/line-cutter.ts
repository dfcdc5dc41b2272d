/** Maximum length of a line. Longer than an event with a large image. */
const LINE_CHARACTERS_MAX = 64 * 1024 * 1024;

/** Splits a text that arrives in pieces into lines without line feeds. */
export class LineCutter {
  #rest = "";

  /** Returns the lines that are now complete. Throws a RangeError if a line is too long. */
  take(piece: string): readonly string[] {
    if (this.#rest.length + piece.length > LINE_CHARACTERS_MAX)
      throw new RangeError(`A line has more than ${LINE_CHARACTERS_MAX} characters.`);
    if (!piece.includes("\n")) {
      this.#rest += piece; // Reads each piece of a long line only once.
      return [];
    }
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines;
  }

  /** The part of an unfinished line. */
  get rest(): string {
    return this.#rest;
  }
}
