import type { FileAttributes, FileSearchFilter } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { VectorModel } from "./chunks.ts";

/** Where to search. */
export interface SearchScope {
  readonly owner: Owner;
  readonly storeIds: readonly string[];
  /** Selects files before anything is ranked. */
  readonly filter: FileSearchFilter | null;
}

/** One form of a question, as words and as vectors of the stores' models. */
export interface ChunkQuestion {
  /** Its words, from `questionWords`: each is found by any of its forms. */
  readonly words: readonly (readonly string[])[];
  /** Words that say little: they count less, and cover nothing of the question. */
  readonly stopWords: readonly (readonly string[])[];
  readonly vectors: readonly QuestionVector[];
}

/** A question as a vector of one model. */
export interface QuestionVector {
  readonly model: VectorModel;
  readonly vector: Float32Array;
  /** From 0 to 1: see `ChunkHit.nearness`. */
  readonly commonShare: number;
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
  readonly columns: string | null;
}

/** How well a chunk matches one form of a question. */
export interface ChunkHit {
  readonly key: number;
  /** Its BM25 score, with statistics of the searched stores only; 0 if it contains none of the words. */
  readonly words: number;
  /**
   * How much of the question it contains, from 0 to 1: the share of the question's words, each as important as it is
   * rare, and less for a single occurrence in a long chunk. Comparable between searches and stores.
   */
  readonly coverage: number;
  /** The cosine of both vectors, from -1 to 1; null if one of them is missing. */
  readonly cosine: number | null;
  /**
   * The cosine less `commonShare` of that with the middle of the chunks around the question, because some texts are a
   * little near to every question. Orders chunks by meaning within one search; null without a cosine.
   */
  readonly nearness: number | null;
  /** The name of the model of these vectors; null without a cosine. */
  readonly model: string | null;
}

export type ChunksFound =
  | {
      readonly type: "found";
      /** For each question, the best chunks by words and the best by meaning, without duplicates and in no order. */
      readonly hits: readonly (readonly ChunkHit[])[];
      /** Every chunk of a hit. */
      readonly chunks: readonly FoundChunk[];
    }
  | { readonly type: "unknown_store" | "expired_store"; readonly storeId: string };

/** Finds chunks by words and by meaning, in a thread that never writes. */
export interface ChunkFinder {
  /** The languages of the files in these stores, by ISO 639-3, each once. Unknown stores have none. */
  languagesOf(scope: Pick<SearchScope, "owner" | "storeIds">): Promise<readonly string[]>;
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
