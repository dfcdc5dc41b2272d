import type {
  FileAttributes,
  FileSearchFilter,
  StaticChunking,
  VectorStoreFileError,
} from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports/owner.ts";

/** A file that this worker has claimed and takes in. */
export interface IngestTask {
  /** Names the file in its store. */
  readonly number: number;
  readonly storeNumber: number;
  /** The worker that claimed it. */
  readonly worker: number;
  readonly owner: Owner;
  readonly storeId: string;
  readonly fileId: string;
  readonly chunking: StaticChunking;
}

/** A piece of a file, ready to be stored. */
export interface IndexedChunk {
  /** Its place among the chunks of its file, from 0. */
  readonly ordinal: number;
  readonly text: string;
  /** The range in the text of the file, in UTF-16 units; the end is exclusive. Chunks overlap. */
  readonly start: number;
  readonly end: number;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  /** Its words as `wordsOf` finds them. */
  readonly words: readonly string[];
  /** Of unit length; null if the server searches by words only. */
  readonly vector: Float32Array | null;
}

/** The model that made vectors. */
export interface VectorModel {
  readonly name: string;
  readonly dimensions: number;
}

/** `full`: the owner's vector stores would become too large. `lost`: the file was removed, cancelled or added again. */
export type ChunksAdded = "added" | "full" | "lost";

export type IngestEnd =
  | { readonly type: "completed" }
  | { readonly type: "failed"; readonly error: VectorStoreFileError };

/**
 * Files that wait to be taken in, and those that are. A worker that dies loses its claims, and the files are taken in
 * from their beginning by another. What is stored of a file is found only once it has completed.
 */
export interface IngestQueue {
  /**
   * The oldest file that waits; null if none does. What an earlier attempt stored of it is removed. A file whose
   * attempts all ended with their process fails.
   */
  claim(): Promise<IngestTask | null>;
  /** Stores some chunks of a file, all or none. `model` made their vectors; null if they have none. */
  addChunks(task: IngestTask, chunks: readonly IndexedChunk[], model: VectorModel | null): Promise<ChunksAdded>;
  /** Returns false if the claim is lost. */
  finish(task: IngestTask, end: IngestEnd): Promise<boolean>;
  /** Gives the file back, so that it waits again. The attempt does not count if the server only stops. */
  release(task: IngestTask, why: "stopping" | "fault"): Promise<void>;
  /** How many files wait or are being taken in. */
  count(): Promise<number>;
}

/** A file that was taken in without vectors, or with vectors of another model than the one in use. */
export interface StaleFile {
  readonly number: number;
  readonly storeNumber: number;
}

export interface StaleChunk extends Pick<IndexedChunk, "text" | "headings"> {
  readonly key: number;
}

/** A vector and the key of its chunk. */
export interface KeyedVector {
  readonly key: number;
  readonly vector: Float32Array;
}

/**
 * Replaces the vectors of files after a change of the model. A store is searched by its old model until all of its
 * files have vectors of the new one.
 */
export interface VectorRenewal {
  /**
   * The first file with a number above `after` that needs vectors of this model; null if none does. Without dimensions
   * every file counts that was taken in.
   */
  findStale(modelName: string, dimensions: number | null, after: number): Promise<StaleFile | null>;
  /** Some chunks of the file that lack a vector of this model, at most `count`. */
  readChunks(file: StaleFile, model: VectorModel, count: number): Promise<readonly StaleChunk[]>;
  /** Returns false if the file is gone. */
  addVectors(file: StaleFile, model: VectorModel, vectors: readonly KeyedVector[]): Promise<boolean>;
  /** The file has all vectors of this model. Its store uses the model from now on if all of its files have. */
  finishFile(file: StaleFile, model: VectorModel): Promise<void>;
  /** Does that for all stores. */
  switchStores(model: VectorModel): Promise<void>;
  /** Erases some vectors that nothing uses any more. Returns false if there are none. */
  eraseOld(): Promise<boolean>;
}

/** Where to search. */
export interface SearchScope {
  readonly owner: Owner;
  readonly storeIds: readonly string[];
  /** Decides about files before anything is ranked. */
  readonly filter: FileSearchFilter | null;
}

/** One form of a question, as words and as vectors of the models that the stores use. */
export interface ChunkQuestion {
  /** As `wordsOf` finds them, each once. */
  readonly words: readonly string[];
  readonly vectors: readonly { readonly model: VectorModel; readonly vector: Float32Array }[];
}

/** A chunk that fits a question. */
export interface FoundChunk {
  /** Unique among all chunks. */
  readonly key: number;
  readonly storeId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: FileAttributes | null;
  readonly ordinal: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly headings: readonly string[];
}

/** How well a chunk fits one form of a question. */
export interface ChunkHit {
  readonly key: number;
  /** Its BM25 score, 0 if it holds none of the words. The statistics are those of the searched stores alone. */
  readonly words: number;
  /** The cosine of both vectors, from -1 to 1; null if one of them is missing. */
  readonly cosine: number | null;
}

export type ChunksFound =
  | {
      readonly type: "found";
      /** For each question the best chunks by words and the best by meaning, each chunk once and in no order. */
      readonly hits: readonly (readonly ChunkHit[])[];
      /** How many chunks were searched. */
      readonly chunkCount: number;
      /** Every chunk that a hit names. */
      readonly chunks: readonly FoundChunk[];
    }
  | { readonly type: "unknown_store" | "expired_store"; readonly storeId: string };

/** Finds chunks by words and by meaning. Does its work in a thread that writes nothing. */
export interface ChunkFinder {
  /** The models of the vectors in these stores. Unknown stores count as having none. */
  modelsOf(scope: Pick<SearchScope, "owner" | "storeIds">): Promise<readonly VectorModel[]>;
  /**
   * At most `perKindMax` chunks of each kind for each question. Rejects with the signal's reason if that aborts.
   */
  find(
    scope: SearchScope,
    questions: readonly ChunkQuestion[],
    perKindMax: number,
    signal: AbortSignal,
  ): Promise<ChunksFound>;
  /** Counts as a use of the stores, which puts off their expiry. */
  touch(scope: Pick<SearchScope, "owner" | "storeIds">): Promise<void>;
}

/** Turns texts into vectors. */
export interface Embedder {
  /** The model that new vectors are made with. */
  readonly modelName: string;
  /**
   * One vector of unit length for each text, all with the same dimensions. Rejects with `EmbeddingFailed`, or with the
   * signal's reason if that aborts.
   */
  embed(modelName: string, texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  /** How long the vectors of this model are. Asks only if it made none yet, and rejects as `embed` does. */
  dimensionsOf(modelName: string, signal: AbortSignal): Promise<number>;
}

/** The embedding server did not answer, or not with vectors. The message names no address and no key. */
export class EmbeddingFailed extends Error {
  override readonly name = "EmbeddingFailed";
}
