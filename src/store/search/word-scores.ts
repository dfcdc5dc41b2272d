import { Best } from "./best.ts";
import { chunkKey, fileOfChunk } from "./chunk-keys.ts";

/** The weights of a word's repetition and of a chunk's length. Values from the literature. */
const K1 = 1.2;
const B = 0.75;

/** A searched file. */
export interface SearchedFile {
  readonly number: number;
  readonly chunks: number;
  readonly words: number;
}

/** An occurrence of a word in a chunk. */
export interface WordCount {
  readonly key: number;
  readonly count: number;
}

/** The score of one word in each chunk that contains it. */
interface ScoredWord {
  readonly rarity: number;
  readonly counts: ReadonlyMap<number, number>;
}

/** The BM25 scores of the chunks of some files for one question, with the statistics of these files. */
export class WordScores {
  readonly #files: ReadonlyMap<number, SearchedFile>;
  readonly #words: ScoredWord[] = [];
  /** Scores as if all chunks had the same length, to find candidates without looking at each chunk. */
  readonly #estimates = new Map<number, Float64Array>();
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

  get chunkCount(): number {
    return this.#chunkCount;
  }

  /** Adds the score of one word. `rows`: every chunk of the searched stores with the word. */
  add(rows: readonly WordCount[]): void {
    const counts = new Map<number, number>();
    for (const { key, count } of rows) if (this.#files.has(fileOfChunk(key))) counts.set(key, count);
    const rarity = Math.log(1 + (this.#chunkCount - counts.size + 0.5) / (counts.size + 0.5));
    this.#words.push({ rarity, counts });
    for (const [key, count] of counts) {
      const file = fileOfChunk(key);
      const ofFile = this.#estimatesOf(file);
      const ordinal = key - chunkKey(file, 0);
      ofFile[ordinal] = (ofFile[ordinal] ?? 0) + rarity * dampCount(count, 1);
    }
  }

  /** The keys of the best candidates, in no order. */
  candidates(max: number): readonly number[] {
    const best = new Best(max);
    for (const [file, scores] of this.#estimates)
      for (let ordinal = 0; ordinal < scores.length; ordinal++) {
        const score = scores[ordinal] ?? 0;
        if (score > 0) best.add(chunkKey(file, ordinal), score);
      }
    return best.keys;
  }

  /** The score of a chunk that has `length` words. */
  scoreOf(key: number, length: number): number {
    let score = 0;
    for (const { rarity, counts } of this.#words) {
      const count = counts.get(key);
      if (count !== undefined) score += rarity * dampCount(count, length / this.#averageLength);
    }
    return score;
  }

  #estimatesOf(fileNumber: number): Float64Array {
    const estimates = this.#estimates.get(fileNumber) ?? new Float64Array(this.#files.get(fileNumber)?.chunks ?? 0);
    this.#estimates.set(fileNumber, estimates);
    return estimates;
  }
}

/** The weight of `count` repetitions in a chunk of this length; 1 is the average length. */
function dampCount(count: number, length: number): number {
  return (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
}
