import type {
  FileAttributes,
  FileSearchFilter,
  StaticChunking,
  VectorStore,
  VectorStoreFile,
  VectorStoreFileBatch,
} from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports/owner.ts";
import type { PageRequest } from "./responses.ts";

/** A vector store to create. */
export interface NewVectorStore {
  readonly name: string;
  readonly description: string | null;
  readonly metadata: VectorStore["metadata"];
  /** Days without use after which it expires; null if it never does. */
  readonly expiresAfterDays: number | null;
}

/** An uploaded file to put into a vector store. */
export interface NewStoreFile {
  readonly fileId: string;
  readonly attributes: FileAttributes | null;
  readonly chunking: StaticChunking;
}

/** What a change of a vector store leaves out stays as it is. */
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
  /** Lists only files with this status; all if null. */
  readonly status: VectorStoreFile["status"] | null;
  /** Lists only the files of this batch; all if null. */
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
 * Stored vector stores and what is known of their files. What is unknown and what belongs to another owner gives `null`
 * or `false`. Every file that is added has the status `in_progress` until it was taken in or has failed, so that a
 * client which polls comes to an end.
 */
export interface VectorStores {
  createStore(owner: Owner, store: NewVectorStore, files: readonly NewStoreFile[]): Promise<Added<VectorStore>>;
  findStore(owner: Owner, storeId: string): Promise<VectorStore | null>;
  /** In the order of their creation; null if a cursor is unknown. */
  listStores(owner: Owner, page: VectorStorePageRequest): Promise<ListPage<VectorStore> | null>;
  changeStore(owner: Owner, storeId: string, change: VectorStoreChange): Promise<VectorStore | null>;
  /** Its uploaded files stay. */
  deleteStore(owner: Owner, storeId: string): Promise<boolean>;

  /** A file that the store has already is taken in once more, in place of what was there. */
  addFile(owner: Owner, storeId: string, file: NewStoreFile): Promise<Added<VectorStoreFile>>;
  /** Adds all of the files or none. */
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
  /** The uploaded file stays. */
  removeFile(owner: Owner, storeId: string, fileId: string): Promise<boolean>;
  /** The text of a file as it was taken in; null if it is unknown. The texts of its parts follow each other. */
  readFile(owner: Owner, storeId: string, fileId: string): Promise<readonly string[] | null>;
  findBatch(owner: Owner, storeId: string, batchId: string): Promise<VectorStoreFileBatch | null>;
  /** Those of its files that were not taken in yet become `cancelled`. */
  cancelBatch(owner: Owner, storeId: string, batchId: string): Promise<VectorStoreFileBatch | null>;

  /**
   * Marks the stores that were not used for long enough by `now` (Unix seconds) as expired, and removes the indexes of
   * some that are expired or deleted. Resolves to false if there is nothing left to do.
   */
  expireUnused(now: number): Promise<boolean>;
}

/** A search in one or several vector stores. */
export interface PassageSearch {
  readonly storeIds: readonly string[];
  /** Forms of one question; a passage counts with the form that it fits best. */
  readonly queries: readonly string[];
  readonly filter: FileSearchFilter | null;
  /** How many passages are wanted. */
  readonly resultsMax: number;
  /** Passages with a lower score are left out. */
  readonly scoreMin: number;
  /** How much the rank by words and the rank by meaning count; null for the server's choice. */
  readonly weights: { readonly words: number; readonly meaning: number } | null;
  /** Ordered by both ranks, or by the score alone. */
  readonly order: "ranks" | "score";
}

/** A piece of a file that fits a question. */
export interface Passage {
  readonly storeId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: FileAttributes | null;
  /** Relevance from 0 to 1. */
  readonly score: number;
  readonly text: string;
  /** Where the text stands: the headings above it, outermost first. */
  readonly headings: readonly string[];
}

export type PassagesFound =
  | { readonly type: "found"; readonly passages: readonly Passage[] }
  | { readonly type: "unknown_store"; readonly storeId: string }
  | { readonly type: "expired_store"; readonly storeId: string };

/** Searches what was taken into vector stores. */
export interface PassageFinder {
  /** Whether questions are compared by meaning, too, and not by words alone. */
  readonly comparesMeaning: boolean;
  /** Best first. Counts as a use of the stores. Rejects with the signal's reason if that aborts. */
  search(owner: Owner, search: PassageSearch, signal: AbortSignal): Promise<PassagesFound>;
}
