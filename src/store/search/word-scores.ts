import { Best } from "./best.ts";
import { chunkKey, fileOfChunk } from "./chunk-keys.ts";

/** How much the repetition of a word counts, and the length of its chunk. */
interface CountScale {
  readonly k1: number;
  readonly b: number;
}

/**
 * Chosen on half of the questions of `scripts/tools-quality`. The usual 1.2 and 0.75 suit documents of any length, but
 * chunks are cut at a length, so a short one is a whole text on one subject.
 */
const SCORE_SCALE: CountScale = { k1: 2, b: 0.9 };
/** For coverage, in which no repetition should count for much. Values from the literature. */
const COVERAGE_SCALE: CountScale = { k1: 1.2, b: 0.75 };

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

/**
 * How rare words are counts as if at least this many chunks were searched, so that a chunk covers as much of a question
 * in a small store as in a large one.
 */
const COVERED_CHUNKS_MIN = 1_000;

/** The share of their rarity that stop words count. */
const STOP_WORD_SHARE = 0.4;
/** A single occurrence in a chunk of average length covers 0.8 of a word, and many cover 0.9 of it. */
const UNSURE = 0.25;

/** The score of one word in each chunk that contains it. */
interface ScoredWord {
  readonly rarity: number;
  /** Its share in the question, relative to the other words. */
  readonly weight: number;
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

  /**
   * Adds the score of one word. `rows`: every chunk of the searched stores with the word; a chunk with several of its
   * forms has several rows.
   */
  add(rows: readonly WordCount[]): void {
    const counts = this.#count(rows);
    const rarity = rarityOf(counts.size, this.#chunkCount);
    this.#words.push({ rarity, weight: rarityOf(counts.size, Math.max(COVERED_CHUNKS_MIN, this.#chunkCount)), counts });
    this.#estimate(counts, rarity);
  }

  /** Adds the score of a word that says little: it counts less, and covers nothing of the question. */
  addStopWord(rows: readonly WordCount[]): void {
    const counts = this.#count(rows);
    const rarity = STOP_WORD_SHARE * rarityOf(counts.size, this.#chunkCount);
    this.#words.push({ rarity, weight: 0, counts });
    this.#estimate(counts, rarity);
  }

  /** How often each chunk has a word, for chunks of the searched files. */
  #count(rows: readonly WordCount[]): Map<number, number> {
    const counts = new Map<number, number>();
    for (const { key, count } of rows)
      if (this.#files.has(fileOfChunk(key))) counts.set(key, (counts.get(key) ?? 0) + count);
    return counts;
  }

  #estimate(counts: ReadonlyMap<number, number>, rarity: number): void {
    for (const [key, count] of counts) {
      const file = fileOfChunk(key);
      const ofFile = this.#estimatesOf(file);
      const ordinal = key - chunkKey(file, 0);
      ofFile[ordinal] = (ofFile[ordinal] ?? 0) + rarity * dampCount(count, 1, SCORE_SCALE);
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

  /** The score of a chunk that has `length` words, and how much of the question it covers, from 0 to 1. */
  scoreOf(key: number, length: number): { readonly words: number; readonly coverage: number } {
    let score = 0;
    let covered = 0;
    let whole = 0;
    for (const { rarity, weight, counts } of this.#words) {
      whole += weight;
      const count = counts.get(key);
      if (count === undefined) continue;
      const relativeLength = length / this.#averageLength;
      const damped = dampCount(count, relativeLength, COVERAGE_SCALE);
      score += rarity * dampCount(count, relativeLength, SCORE_SCALE);
      covered += (weight * damped) / (damped + UNSURE);
    }
    return { words: score, coverage: whole === 0 ? 0 : covered / whole };
  }

  #estimatesOf(fileNumber: number): Float64Array {
    const estimates = this.#estimates.get(fileNumber) ?? new Float64Array(this.#files.get(fileNumber)?.chunks ?? 0);
    this.#estimates.set(fileNumber, estimates);
    return estimates;
  }
}

function rarityOf(chunksWithWord: number, chunkCount: number): number {
  return Math.log(1 + (chunkCount - chunksWithWord + 0.5) / (chunksWithWord + 0.5));
}

/** The weight of `count` repetitions in a chunk of this length; 1 is the average length. */
function dampCount(count: number, length: number, { k1, b }: CountScale): number {
  return (count * (k1 + 1)) / (count + k1 * (1 - b + b * length));
}
