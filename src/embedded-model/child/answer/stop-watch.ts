/** What came before a stop in a text, and which stop it was. */
export interface WatchedText {
  /** May be shown. */
  readonly text: string;
  /** The stop that was found; null for none so far. */
  readonly stop: string | null;
  /** What follows the stop in the same piece. */
  readonly rest: string;
}

/** Looks for stops in a text that comes in pieces, and holds back what may be the beginning of one. */
export class StopWatch {
  readonly #stops: readonly string[];
  #pending = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  add(piece: string): WatchedText {
    const text = this.#pending + piece;
    const match = this.#stops
      .map((stop) => ({ stop, at: text.indexOf(stop) }))
      .filter(({ at }) => at !== -1)
      .toSorted((one, other) => one.at - other.at)[0];
    if (match !== undefined) {
      this.#pending = "";
      return { text: text.slice(0, match.at), stop: match.stop, rest: text.slice(match.at + match.stop.length) };
    }
    const keep = this.#stops.reduce((most, stop) => Math.max(most, overlap(text, stop)), 0);
    this.#pending = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stop: null, rest: "" };
  }

  /** What was held back in vain. */
  end(): string {
    const text = this.#pending;
    this.#pending = "";
    return text;
  }
}

/** How much of the end of a text is the beginning of a stop. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--)
    if (text.endsWith(stop.slice(0, length))) return length;
  return 0;
}
