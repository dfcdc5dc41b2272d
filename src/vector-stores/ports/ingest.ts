import type { FileAttributes, StaticChunking, VectorStoreFileError } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { IndexedChunk, VectorModel } from "./chunks.ts";

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
  readonly attributes: FileAttributes | null;
  readonly chunking: StaticChunking;
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
