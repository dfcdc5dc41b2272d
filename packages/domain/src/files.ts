import type { FileObject } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "./owner.ts";
import type { PageRequest } from "./responses.ts";

/** The record of an uploaded file. Times are in Unix seconds. */
export interface StoredFile {
  /** Begins with `file-`. */
  readonly id: string;
  readonly purpose: FileObject["purpose"];
  /** The client's name for the file. The client chose it, and the type below; do not trust either. */
  readonly filename: string;
  readonly mimeType: string;
  readonly bytes: number;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** A file that is being uploaded. Read `content` once, to its end. */
export interface IncomingFile extends Pick<StoredFile, "purpose" | "filename" | "mimeType"> {
  /** Chosen by the caller, so that a repetition finds it; a new id if absent. Nobody else may know it. */
  readonly id?: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Seconds from its creation until it expires; null if it never does. */
  readonly expiresAfter: number | null;
}

/** A file with its whole content in memory. */
export interface FileContent extends Pick<StoredFile, "filename" | "mimeType"> {
  readonly bytes: Uint8Array;
}

/**
 * A file whose content is read from the disk during iteration. Iterate at most once; leaving the loop early closes the
 * file.
 */
export interface FileStream {
  readonly file: StoredFile;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface FilePageRequest extends PageRequest {
  /** Lists only files with this purpose; null lists all. */
  readonly purpose: string | null;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** Uploaded files. Unknown and expired ids, and ids of other owners, give `null` or `false`. */
export interface FileStore {
  /** Resolves once the file is durable. If `content` or the disk fails or `signal` aborts, nothing is stored. */
  createFile(owner: Owner, file: IncomingFile, signal?: AbortSignal): Promise<StoredFile>;
  findFile(owner: Owner, fileId: string): Promise<StoredFile | null>;
  /** Files, oldest first; null if the cursor is unknown. */
  listFiles(owner: Owner, page: FilePageRequest): Promise<FilePage | null>;
  readFile(owner: Owner, fileId: string): Promise<FileContent | null>;
  streamFile(owner: Owner, fileId: string): Promise<FileStream | null>;
  /** Returns false if there was no such file. */
  deleteFile(owner: Owner, fileId: string): Promise<boolean>;
  /**
   * Removes all owners' files that expired by `now` (in Unix seconds), and leftovers of broken uploads. Resolves to the
   * number of expired files.
   */
  deleteExpired(now: number): Promise<number>;
}
