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

/** A vector and the key of its chunk. */
export interface KeyedVector {
  readonly key: number;
  readonly vector: Float32Array;
}
