import type { VectorStoreFile } from "@antiphon/contracts/responses-api/types.ts";
import type { Generated } from "kysely";

/** Vector stores. Times are Unix seconds. */
export interface VectorStoresTable {
  /** Increases with each store. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly name: string;
  readonly description: string | null;
  /** JSON object. */
  readonly metadata: string;
  readonly created_at: number;
  readonly last_active_at: number;
  /** Days without use; null if it never expires, like the next column. */
  readonly expires_after_days: number | null;
  readonly expires_at: number | null;
  /** 0 or 1. */
  readonly is_expired: Generated<number>;
  /** The model of the searched vectors; null if there are none. */
  readonly model_number: Generated<number | null>;
  /** The languages of its files in ISO 639-3, with blanks between them; null if their words are in English forms. */
  readonly languages: Generated<string | null>;
}

/** Files that were added to a vector store together. */
export interface VectorStoreBatchesTable {
  readonly number: Generated<number>;
  readonly id: string;
  readonly store_number: number;
  readonly created_at: number;
  /** 0 or 1. */
  readonly is_cancelled: Generated<number>;
}

/** A file in a vector store. A file that is added again gets a new row. */
export interface VectorStoreFilesTable {
  /** Increases with each row and is never reused. The keys of chunks contain it. */
  readonly number: Generated<number>;
  readonly store_number: number;
  readonly file_id: string;
  readonly organization: string;
  readonly project: string;
  readonly filename: string;
  readonly created_at: number;
  readonly status: VectorStoreFile["status"];
  /** JSON; null unless the file failed. */
  readonly error: string | null;
  /** JSON object, or null. */
  readonly attributes: string | null;
  /** JSON: the sizes of its chunks. */
  readonly chunking: string;
  readonly usage_bytes: Generated<number>;
  readonly batch_number: number | null;
  /** The worker that ingests it; null if it is waiting or done. */
  readonly worker: Generated<number | null>;
  /** The number of started attempts. */
  readonly attempts: Generated<number>;
  readonly chunk_count: Generated<number>;
  /** The number of words in its chunks. */
  readonly word_count: Generated<number>;
  /** The model with vectors for all of its chunks; null if none. */
  readonly model_number: Generated<number | null>;
}

/** A chunk of a file. Its words are in the index `vector_store_words`. */
export interface VectorStoreChunksTable {
  /** The number of the file times 2^20, plus the place of the chunk in the file. */
  readonly key: number;
  readonly text: string;
  /** The range in the text of the file, in UTF-16 units; `last` is exclusive. */
  readonly first: number;
  readonly last: number;
  /** JSON list. */
  readonly headings: string;
  readonly word_count: number;
  /** The line with the names of the columns, if it begins below that line in a table. */
  readonly columns: string | null;
}

/** The vector of a chunk by one model: 32-bit floats of unit length, little-endian. */
export interface VectorStoreVectorsTable {
  readonly model_number: number;
  readonly key: number;
  readonly vector: Uint8Array;
}

/** Files that may have vectors that neither they nor their stores use any more. */
export interface VectorStoreLeftoversTable {
  readonly file_number: number;
}

/** Files whose chunks are to be erased. */
export interface VectorStoreRemovalsTable {
  readonly file_number: number;
}

export interface VectorModelsTable {
  readonly number: Generated<number>;
  readonly name: string;
  readonly dimensions: number;
}
