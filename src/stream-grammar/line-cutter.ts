/** Longer than the events of large pictures. */
const LINE_CHARACTERS_MAX = 64 * 1024 * 1024;

/** Cuts a text that comes in pieces into lines, without their line feeds. */
export class LineCutter {
  #rest = "";

  /** The lines that are whole now. Throws a RangeError where one is longer than this holds. */
  take(piece: string): readonly string[] {
    if (this.#rest.length + piece.length > LINE_CHARACTERS_MAX)
      throw new RangeError(`A line has more than ${LINE_CHARACTERS_MAX} characters.`);
    if (!piece.includes("\n")) {
      this.#rest += piece; // Long lines come in many pieces: each is looked at once.
      return [];
    }
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines;
  }

  /** What has come of a line that has not ended. */
  get rest(): string {
    return this.#rest;
  }
}
