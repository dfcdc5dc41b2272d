import type { VectorModel } from "../../vector-stores/ports.ts";
import type { FileVectors } from "./vector-scores.ts";
import type { SearchedFile, WordCount } from "./word-scores.ts";

/** A word of a question, and what is known of it. */
export interface KnownWord {
  readonly word: string;
  /** How many chunks of the searched stores have it; `chunksMax` if it is in more than that. */
  readonly chunks: number;
  /** Where it is, if that came with the number. */
  readonly places: readonly WordCount[] | null;
}

/** A model and its number in the database. */
export type NumberedModel = VectorModel & { readonly number: number };

/** What a search reads of the tables that each database has in its own form: those of words and of vectors. */
export interface ChunkIndex {
  /** Words that no chunk has may be missing. The others are in the order of the question. */
  findWords(stores: readonly number[], words: readonly string[], chunksMax: number): Promise<readonly KnownWord[]>;
  /** Every chunk of these stores that has the word. */
  placesOf(stores: readonly number[], word: string): Promise<readonly WordCount[]>;
  /** The vectors of these files by this model, with 8 bits a component. A file that has none may be missing. */
  readFiles(model: NumberedModel, files: readonly SearchedFile[]): AsyncGenerator<FileVectors, void>;
  /** The true vectors of these chunks by this model. */
  vectorsOf(model: NumberedModel, keys: readonly number[]): Promise<ReadonlyMap<number, Float32Array>>;
}
