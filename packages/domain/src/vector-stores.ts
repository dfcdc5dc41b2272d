import type {
  FileAttributes,
  FileSearchFilter,
  StaticChunking,
  VectorStore,
  VectorStoreFile,
  VectorStoreFileBatch,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "./owner.ts";
import type { PageRequest } from "./responses.ts";

/** A vector store to create. */
export interface NewVectorStore {
  readonly name: string;
  readonly description: string | null;
  readonly metadata: VectorStore["metadata"];
  /** Days without use after which it expires; null if it never does. */
  readonly expiresAfterDays: number | null;
}

/** An uploaded file to add to a vector store. */
export interface NewStoreFile {
  readonly fileId: string;
  readonly attributes: FileAttributes | null;
  readonly chunking: StaticChunking;
}

/** A change of a vector store. Absent members stay unchanged. */
export interface VectorStoreChange {
  readonly name?: string;
  readonly metadata?: VectorStore["metadata"];
  readonly expiresAfterDays?: number | null;
}

/** A page of vector stores. The cursor `before` ends it, exclusively. */
export interface VectorStorePageRequest extends PageRequest {
  readonly before: string | null;
}

/** A page of a store's files; the cursors are ids of files. */
export interface StoreFilePageRequest extends VectorStorePageRequest {
  /** Lists only files with this status; null lists all. */
  readonly status: VectorStoreFile["status"] | null;
  /** Lists only files of this batch; null lists all. */
  readonly batchId: string | null;
}

export interface ListPage<Entry> {
  readonly entries: readonly Entry[];
  readonly hasMore: boolean;
}

/** Why a vector store was not changed. */
export type VectorStoreRefusal =
  | { readonly reason: "unknown_store" }
  | { readonly reason: "expired_store" }
  /** No file of the owner has this id. */
  | { readonly reason: "unknown_file"; readonly fileId: string }
  /** The owner's vector stores would become larger than `bytesMax`. */
  | { readonly reason: "full"; readonly bytesMax: number };

export type Added<Result> =
  | { readonly type: "added"; readonly result: Result }
  | { readonly type: "refused"; readonly refusal: VectorStoreRefusal };

/**
 * Stored vector stores and their files. Unknown ids and ids of other owners give `null` or `false`. Every added file is
 * `in_progress` until its ingestion succeeds or fails, so a client that polls always sees an end.
 */
export interface VectorStores {
  createStore(owner: Owner, store: NewVectorStore, files: readonly NewStoreFile[]): Promise<Added<VectorStore>>;
  findStore(owner: Owner, storeId: string): Promise<VectorStore | null>;
  /** In the order of their creation; null if a cursor is unknown. */
  listStores(owner: Owner, page: VectorStorePageRequest): Promise<ListPage<VectorStore> | null>;
  changeStore(owner: Owner, storeId: string, change: VectorStoreChange): Promise<VectorStore | null>;
  /** Does not delete its uploaded files. */
  deleteStore(owner: Owner, storeId: string): Promise<boolean>;

  /** Ingests a file again if the store already has it, and replaces its old content. */
  addFile(owner: Owner, storeId: string, file: NewStoreFile): Promise<Added<VectorStoreFile>>;
  /** Adds all files or none. */
  addBatch(owner: Owner, storeId: string, files: readonly NewStoreFile[]): Promise<Added<VectorStoreFileBatch>>;
  findFile(owner: Owner, storeId: string, fileId: string): Promise<VectorStoreFile | null>;
  /** In the order in which they were added; null if the store, the batch or a cursor is unknown. */
  listFiles(owner: Owner, storeId: string, page: StoreFilePageRequest): Promise<ListPage<VectorStoreFile> | null>;
  changeAttributes(
    owner: Owner,
    storeId: string,
    fileId: string,
    attributes: FileAttributes | null,
  ): Promise<VectorStoreFile | null>;
  /** Does not delete the uploaded file. */
  removeFile(owner: Owner, storeId: string, fileId: string): Promise<boolean>;
  /** The text of a file as ingested, in consecutive parts; null if the file is unknown. */
  readFile(owner: Owner, storeId: string, fileId: string): Promise<readonly string[] | null>;
  findBatch(owner: Owner, storeId: string, batchId: string): Promise<VectorStoreFileBatch | null>;
  /** Its files that are not ingested yet become `cancelled`. */
  cancelBatch(owner: Owner, storeId: string, batchId: string): Promise<VectorStoreFileBatch | null>;

  /**
   * Marks stores as expired that are unused for too long at `now` (Unix seconds). Removes the indexes of some expired
   * or deleted stores. Resolves to false if nothing is left to do.
   */
  expireUnused(now: number): Promise<boolean>;
}

/** A search in one or several vector stores. */
export interface PassageSearch {
  readonly storeIds: readonly string[];
  /** Alternative forms of one question; a hit scores with its best form. */
  readonly queries: readonly string[];
  /** Whether a model may reword the queries. */
  readonly rewrites: boolean;
  readonly filter: FileSearchFilter | null;
  /** The maximum number of hits. */
  readonly resultsMax: number;
  /** Hits with a lower score are left out. */
  readonly scoreMin: number;
  /** The weights of the rank by words and the rank by meaning; null for the server's choice. */
  readonly weights: { readonly words: number; readonly meaning: number } | null;
  /** Ordered by the reranker, or else by both ranks (`best`), by both ranks, or by the score alone. */
  readonly order: "best" | "ranks" | "score";
}

/** A part of a file that matches a question. */
export interface Passage {
  readonly storeId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: FileAttributes | null;
  /** Relevance from 0 to 1. */
  readonly score: number;
  /** Rows of a table follow the names of its columns. */
  readonly text: string;
  /** The title of the document and the headings above the text, outermost first. */
  readonly headings: readonly string[];
}

export type PassagesFound =
  | {
      readonly type: "found";
      readonly passages: readonly Passage[];
      /** The queries that were searched. */
      readonly queries: readonly string[];
    }
  | { readonly type: "unknown_store"; readonly storeId: string }
  | { readonly type: "expired_store"; readonly storeId: string };

/** Searches the content of vector stores. */
export interface PassageFinder {
  /** Whether questions are compared by meaning, and not by words alone. */
  readonly comparesMeaning: boolean;
  /** Best first. Counts as a use of the stores. Rejects with the signal's reason if the signal aborts. */
  search(owner: Owner, search: PassageSearch, signal: AbortSignal): Promise<PassagesFound>;
}
