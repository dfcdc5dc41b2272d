/** A chunk of a file, ready to be stored. */
export interface IndexedChunk {
  /** Its place among the chunks of its file, from 0. */
  readonly ordinal: number;
  readonly text: string;
  /** The range in the text of the file, in UTF-16 units; the end is exclusive. Chunks overlap. */
  readonly start: number;
  readonly end: number;
  /** The title of its document and the headings above it, outermost first. */
  readonly headings: readonly string[];
  /** The line with the names of the columns, if it begins below that line in a table. */
  readonly columns: string | null;
  /** Its words, from `wordsOf`, with those of its headings and columns, and of the names of its file. */
  readonly words: readonly string[];
  /** The language whose word forms these are, by ISO 639-3. */
  readonly language: string;
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
