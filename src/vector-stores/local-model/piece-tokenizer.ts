import type { Pieces } from "./model-file.ts";

/** Stands for a blank in pieces. */
const BLANK = "\u2581";
/** How much less likely an unknown character is than the rarest piece, as a logarithm. */
const UNKNOWN_PENALTY = 10;

/** Cuts texts into pieces of a vocabulary: the most likely ones. Source: SentencePiece's unigram model. */
export class PieceTokenizer {
  readonly #pieces: Pieces;
  readonly #numbers: ReadonlyMap<string, number>;
  /** The longest piece that begins with a character, in UTF-16 units. */
  readonly #lengths = new Map<string, number>();
  readonly #unknownScore: number;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
    this.#numbers = new Map(pieces.texts.map((text, index) => [text, index]));
    for (const text of pieces.texts) {
      const first = characterAt(text, 0);
      this.#lengths.set(first, Math.max(text.length, this.#lengths.get(first) ?? 0));
    }
    let least = 0;
    for (const score of pieces.scores) least = Math.min(least, score);
    this.#unknownScore = least - UNKNOWN_PENALTY;
  }

  /** The numbers of the pieces, without those of begin and end. */
  tokenize(text: string): readonly number[] {
    const normalText = this.#normalize(text);
    const paths = this.#bestPaths(normalText);
    const tokens: number[] = [];
    for (let end = normalText.length; end > 0; end = paths.starts[end] ?? 0) tokens.push(paths.pieces[end] ?? 0);
    return tokens.toReversed();
  }

  #normalize(text: string): string {
    let replaced = "";
    for (const character of text.toWellFormed()) replaced += this.#pieces.replacements.get(character) ?? character;
    const blanks = replaced.replaceAll(/ {2,}/g, " ");
    return (blanks.startsWith(" ") ? blanks : ` ${blanks}`).replaceAll(" ", BLANK);
  }

  /** For each end, the last piece of the best way to it. */
  #bestPaths(text: string): { readonly starts: Int32Array; readonly pieces: Int32Array } {
    const best = new Float64Array(text.length + 1).fill(Number.NEGATIVE_INFINITY);
    const starts = new Int32Array(text.length + 1);
    const pieces = new Int32Array(text.length + 1);
    best[0] = 0;
    const offer = (start: number, end: number, piece: number, score: number): void => {
      const total = (best[start] ?? 0) + score;
      if (total <= (best[end] ?? 0)) return;
      best[end] = total;
      starts[end] = start;
      pieces[end] = piece;
    };
    const { unknown, scores } = this.#pieces;
    for (let start = 0; start < text.length; ) {
      const first = characterAt(text, start);
      const longest = Math.min(text.length - start, this.#lengths.get(first) ?? 0);
      for (let length = first.length; length <= longest; length++) {
        const piece = this.#numbers.get(text.slice(start, start + length));
        if (piece !== undefined && piece !== unknown) offer(start, start + length, piece, scores[piece] ?? 0);
      }
      offer(start, start + first.length, unknown, this.#unknownScore);
      start += first.length;
    }
    return { starts, pieces };
  }
}

function characterAt(text: string, index: number): string {
  const point = text.codePointAt(index);
  return point === undefined ? "" : String.fromCodePoint(point);
}
