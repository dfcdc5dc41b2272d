import type { Batch, CreateBatchRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "../owner.ts";
import type { PageRequest } from "../responses.ts";
import type { ListPage } from "../vector-stores.ts";
import type { BatchQueue, LineQueue } from "./batch-work.ts";

/** The maximum lines of a batch. */
export const BATCH_LINES_MAX = 50_000;
/** The maximum bytes of the input file of a batch. */
export const BATCH_FILE_BYTES_MAX = 200 * 1024 * 1024;
/** The maximum batches of an owner that are not over. */
export const OPEN_BATCHES_MAX = 100;
/** How long a batch takes at most, in seconds. */
export const BATCH_WINDOW_SECONDS = 86_400;

export interface NewBatch {
  readonly endpoint: CreateBatchRequest["endpoint"];
  readonly inputFileId: string;
  readonly completionWindow: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** After how many seconds its output files expire; null if they do not. */
  readonly outputExpiresAfter: number | null;
  /** The API key for which its lines are made. */
  readonly keyId: string;
}

/** The batches of owners. Unknown ids and ids of other owners give `null`. */
export interface Batches {
  /** Null if the owner has `OPEN_BATCHES_MAX`. */
  create(owner: Owner, batch: NewBatch): Promise<Batch | null>;
  find(owner: Owner, id: string): Promise<Batch | null>;
  /** In the order of their creation; null if the cursor is unknown. */
  list(owner: Owner, page: PageRequest): Promise<ListPage<Batch> | null>;
  /** Begins no further line. Changes nothing once a batch is finalizing or over. */
  cancel(owner: Owner, id: string): Promise<Batch | null>;
}

/** What is stored of batches. */
export interface BatchStore {
  readonly batches: Batches;
  readonly queue: BatchQueue;
  readonly lines: LineQueue;
}
