import { chunkKey } from "../chunk-keys.ts";
import { readPostings } from "../postings.ts";
import { Best } from "./best.ts";

/** How much repeating a word counts, and how much the length of a chunk. The values of the literature. */
const K1 = 1.2;
const B = 0.75;

/** A file that is searched. */
export interface SearchedFile {
  readonly number: number;
  readonly chunks: number;
  readonly words: number;
}

export interface PostingRow {
  readonly file_number: number;
  readonly first: number;
  readonly postings: Uint8Array;
}

/** The BM25 scores of the chunks of some files for one question, with the statistics of these files. */
export class WordScores {
  readonly #files: ReadonlyMap<number, SearchedFile>;
  readonly #scores = new Map<number, Float64Array>();
  readonly #chunkCount: number;
  readonly #averageLength: number;

  constructor(files: ReadonlyMap<number, SearchedFile>) {
    this.#files = files;
    let chunks = 0;
    let words = 0;
    for (const file of files.values()) {
      chunks += file.chunks;
      words += file.words;
    }
    this.#chunkCount = chunks;
    this.#averageLength = chunks === 0 ? 1 : Math.max(1, words / chunks);
  }

  /** Adds what one word is worth. `rows`: all its postings in the searched stores. */
  add(rows: readonly PostingRow[]): void {
    const ofFiles = rows.filter(({ file_number: number }) => this.#files.has(number));
    const rarity = this.#rarityOf(ofFiles);
    for (const { file_number: number, first, postings } of ofFiles) {
      const scores = this.#scoresOf(number);
      readPostings(first, postings, (ordinal, count, length) => {
        const damped = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.#averageLength));
        scores[ordinal] = (scores[ordinal] ?? 0) + rarity * damped;
      });
    }
  }

  scoreOf(fileNumber: number, ordinal: number): number {
    return this.#scores.get(fileNumber)?.[ordinal] ?? 0;
  }

  /** The keys of the best chunks, in no order. */
  best(max: number): readonly number[] {
    const best = new Best(max);
    for (const [number, scores] of this.#scores)
      for (let ordinal = 0; ordinal < scores.length; ordinal++) {
        const score = scores[ordinal] ?? 0;
        if (score > 0) best.add(chunkKey(number, ordinal), score);
      }
    return best.keys;
  }

  /** Words in few chunks count more. */
  #rarityOf(rows: readonly PostingRow[]): number {
    let chunks = 0;
    for (const { first, postings } of rows)
      readPostings(first, postings, () => {
        chunks += 1;
      });
    return Math.log(1 + (this.#chunkCount - chunks + 0.5) / (chunks + 0.5));
  }

  #scoresOf(fileNumber: number): Float64Array {
    const known = this.#scores.get(fileNumber) ?? new Float64Array(this.#files.get(fileNumber)?.chunks ?? 0);
    this.#scores.set(fileNumber, known);
    return known;
  }
}
