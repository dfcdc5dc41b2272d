import type { VectorModel } from "../../vector-stores/ports/chunks.ts";
import type { FileVectors } from "./vector-scores.ts";
import type { SearchedFile, WordCount } from "./word-scores.ts";

/** A word of a question and its statistics. */
export interface KnownWord {
  readonly word: string;
  /** The number of chunks with the word in the searched stores; at most `chunksMax`. */
  readonly chunks: number;
  /** Its places, if they came with the number. */
  readonly places: readonly WordCount[] | null;
}

/** A model and its number in the database. */
export type NumberedModel = VectorModel & { readonly number: number };

/** The database-specific reads of a search: words and vectors. */
export interface ChunkIndex {
  /** May leave out words without chunks. The others are in the order of the question. */
  findWords(stores: readonly number[], words: readonly string[], chunksMax: number): Promise<readonly KnownWord[]>;
  /** Every chunk of these stores that has the word. */
  placesOf(stores: readonly number[], word: string): Promise<readonly WordCount[]>;
  /** The vectors of these files by this model, with 8 bits per component. May leave out files without vectors. */
  readFiles(model: NumberedModel, files: readonly SearchedFile[]): AsyncGenerator<FileVectors, void>;
  /** The exact vectors of these chunks by this model. */
  vectorsOf(model: NumberedModel, keys: readonly number[]): Promise<ReadonlyMap<number, Float32Array>>;
}
