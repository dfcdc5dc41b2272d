import type { IndexedChunk, KeyedVector, VectorModel } from "./chunks.ts";

/** A file without vectors, or with vectors of another model. */
export interface StaleFile {
  readonly number: number;
  readonly storeNumber: number;
}

export interface StaleChunk extends Pick<IndexedChunk, "text" | "headings" | "columns"> {
  readonly key: number;
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

/** What texts are embedded for. Many models want another prefix before a question than before a passage. */
export type EmbeddingPurpose = "question" | "passage";

/** Turns texts into vectors. */
export interface Embedder {
  /** The model for new vectors, with its prefixes if it has some: vectors of other prefixes cannot be compared. */
  readonly modelName: string;
  /** How many texts are best embedded by one call, so that many small files do not take a call each. */
  readonly textsTogether: number;
  /**
   * One vector of unit length for each text, all with the same dimensions. Rejects with `EmbeddingFailed`, or with the
   * signal's reason if the signal aborts.
   */
  embed(
    modelName: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /** The vector length of this model. Calls the server only if it is unknown, and rejects like `embed`. */
  dimensionsOf(modelName: string, signal: AbortSignal): Promise<number>;
}

/** The embedding model did not respond, or not with vectors. The message contains no address and no key. */
export class EmbeddingFailed extends Error {
  override readonly name = "EmbeddingFailed";
  /** One of the texts may be the reason, so that the others may succeed without it. */
  readonly dependsOnTexts: boolean;

  constructor(message: string, options: ErrorOptions & { readonly dependsOnTexts?: boolean } = {}) {
    super(message, options);
    this.dependsOnTexts = options.dependsOnTexts ?? false;
  }
}
