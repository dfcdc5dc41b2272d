import type {
  FileAttributes,
  FileSearchFilter,
  StaticChunking,
  VectorStoreFileError,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";

/** A file that this worker has claimed and ingests. */
export interface IngestTask {
  /** Identifies the file in its store. */
  readonly number: number;
  readonly storeNumber: number;
  /** The worker that claimed it. */
  readonly worker: number;
  readonly owner: Owner;
  readonly storeId: string;
  readonly fileId: string;
  readonly chunking: StaticChunking;
}

/** A chunk of a file, ready to be stored. */
export interface IndexedChunk {
  /** Its place among the chunks of its file, from 0. */
  readonly ordinal: number;
  readonly text: string;
  /** The range in the text of the file, in UTF-16 units; the end is exclusive. Chunks overlap. */
  readonly start: number;
  readonly end: number;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  /** Its words, from `wordsOf`. */
  readonly words: readonly string[];
  /** Of unit length; null if the server searches by words only. */
  readonly vector: Float32Array | null;
}

/** The model of vectors. */
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
 * Files waiting for ingestion, and files being ingested. A dead worker loses its claims, and another worker restarts
 * its files. Searches find a file only once it is completed.
 */
export interface IngestQueue {
  /**
   * The oldest waiting file; null if there is none. Data of an earlier attempt is removed. A file fails if all its
   * attempts ended with their process.
   */
  claim(): Promise<IngestTask | null>;
  /** Stores some chunks of a file, all or none. `model`: the model of their vectors; null if they have none. */
  addChunks(task: IngestTask, chunks: readonly IndexedChunk[], model: VectorModel | null): Promise<ChunksAdded>;
  /** Returns false if the claim is lost. */
  finish(task: IngestTask, end: IngestEnd): Promise<boolean>;
  /** Requeues the file. The attempt does not count if the server only stops. */
  release(task: IngestTask, why: "stopping" | "fault"): Promise<void>;
  /** The number of files waiting or being ingested. */
  count(): Promise<number>;
}

/** A file without vectors, or with vectors of another model. */
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
 * files have new vectors.
 */
export interface VectorRenewal {
  /**
   * The first file with a number above `after` that needs vectors of this model; null if there is none. Without
   * dimensions, every ingested file counts.
   */
  findStale(modelName: string, dimensions: number | null, after: number): Promise<StaleFile | null>;
  /** Some chunks of the file without a vector of this model, at most `count`. */
  readChunks(file: StaleFile, model: VectorModel, count: number): Promise<readonly StaleChunk[]>;
  /** Returns false if the file is gone. */
  addVectors(file: StaleFile, model: VectorModel, vectors: readonly KeyedVector[]): Promise<boolean>;
  /** The file has all vectors of this model. If all files of its store have, the store uses the model from now on. */
  finishFile(file: StaleFile, model: VectorModel): Promise<void>;
  /** Switches all stores whose files have all vectors. */
  switchStores(model: VectorModel): Promise<void>;
  /** Erases some unused vectors. Returns false if there are none. */
  eraseOld(): Promise<boolean>;
}

/** Where to search. */
export interface SearchScope {
  readonly owner: Owner;
  readonly storeIds: readonly string[];
  /** Selects files before anything is ranked. */
  readonly filter: FileSearchFilter | null;
}

/** One form of a question, as words and as vectors of the stores' models. */
export interface ChunkQuestion {
  /** From `wordsOf`, without duplicates. */
  readonly words: readonly string[];
  readonly vectors: readonly { readonly model: VectorModel; readonly vector: Float32Array }[];
}

/** A chunk that matches a question. */
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

/** How well a chunk matches one form of a question. */
export interface ChunkHit {
  readonly key: number;
  /** Its BM25 score, with statistics of the searched stores only; 0 if it contains none of the words. */
  readonly words: number;
  /** The cosine of both vectors, from -1 to 1; null if one of them is missing. */
  readonly cosine: number | null;
}

export type ChunksFound =
  | {
      readonly type: "found";
      /** For each question, the best chunks by words and the best by meaning, without duplicates and in no order. */
      readonly hits: readonly (readonly ChunkHit[])[];
      /** The number of chunks searched. */
      readonly chunkCount: number;
      /** Every chunk of a hit. */
      readonly chunks: readonly FoundChunk[];
    }
  | { readonly type: "unknown_store" | "expired_store"; readonly storeId: string };

/** Finds chunks by words and by meaning, in a thread that never writes. */
export interface ChunkFinder {
  /** The models of the vectors in these stores. Unknown stores have none. */
  modelsOf(scope: Pick<SearchScope, "owner" | "storeIds">): Promise<readonly VectorModel[]>;
  /**
   * At most `perKindMax` chunks of each kind for each question. Rejects with the signal's reason if the signal aborts.
   */
  find(
    scope: SearchScope,
    questions: readonly ChunkQuestion[],
    perKindMax: number,
    signal: AbortSignal,
  ): Promise<ChunksFound>;
  /** Records a use of the stores, which postpones their expiry. */
  touch(scope: Pick<SearchScope, "owner" | "storeIds">): Promise<void>;
}

/** Turns texts into vectors. */
export interface Embedder {
  /** The model for new vectors. */
  readonly modelName: string;
  /**
   * One vector of unit length for each text, all with the same dimensions. Rejects with `EmbeddingFailed`, or with the
   * signal's reason if the signal aborts.
   */
  embed(modelName: string, texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  /** The vector length of this model. Calls the server only if it is unknown, and rejects like `embed`. */
  dimensionsOf(modelName: string, signal: AbortSignal): Promise<number>;
}

/** The embedding server did not respond, or not with vectors. The message contains no address and no key. */
export class EmbeddingFailed extends Error {
  override readonly name = "EmbeddingFailed";
}
