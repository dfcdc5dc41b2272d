import type {
  FileAttributes,
  StaticChunking,
  VectorStore,
  VectorStoreFile,
  VectorStoreFileBatch,
  VectorStoreFileError,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Selectable } from "kysely";
import { storedJson } from "../../database/stored-json.ts";
import type {
  VectorStoreBatchesTable,
  VectorStoreFilesTable,
  VectorStoresTable,
} from "../../database/vector-store-tables.ts";

export type StoreRow = Selectable<VectorStoresTable>;
export type StoreFileRow = Selectable<VectorStoreFilesTable>;
export type BatchRow = Selectable<VectorStoreBatchesTable>;
export type FileCounts = VectorStore["file_counts"];

/** Totals of the files of a store or a batch. */
export interface FileTotals {
  readonly counts: FileCounts;
  readonly bytes: number;
}

export const NO_FILES: FileTotals = {
  counts: { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 },
  bytes: 0,
};

/** Adds up the rows of a query that groups files by their status. */
export function addUp(
  rows: Iterable<{ readonly status: VectorStoreFile["status"]; readonly files: number; readonly bytes: number | null }>,
): FileTotals {
  const counts = { ...NO_FILES.counts };
  let bytes = 0;
  for (const { status, files, bytes: more } of rows) {
    counts[status] += files;
    counts.total += files;
    bytes += more ?? 0;
  }
  return { counts, bytes };
}

export function shownStore(row: StoreRow, { counts, bytes }: FileTotals): VectorStore {
  const { expires_after_days: days } = row;
  return {
    id: row.id,
    object: "vector_store",
    created_at: row.created_at,
    name: row.name,
    description: row.description,
    usage_bytes: bytes,
    file_counts: counts,
    status: row.is_expired === 1 ? "expired" : counts.in_progress > 0 ? "in_progress" : "completed",
    ...(days === null ? {} : { expires_after: { anchor: "last_active_at", days } }),
    expires_at: row.expires_at,
    last_active_at: row.last_active_at,
    metadata: storedJson<VectorStore["metadata"]>(row.metadata),
  };
}

export function shownFile(row: StoreFileRow, storeId: string): VectorStoreFile {
  return {
    id: row.file_id,
    object: "vector_store.file",
    created_at: row.created_at,
    usage_bytes: row.usage_bytes,
    vector_store_id: storeId,
    status: row.status,
    last_error: row.error === null ? null : storedJson<VectorStoreFileError>(row.error),
    attributes: row.attributes === null ? null : storedJson<FileAttributes>(row.attributes),
    chunking_strategy: { type: "static", static: storedJson<StaticChunking>(row.chunking) },
  };
}

/** A batch with failed files still counts as complete; its counts show the failures. */
export function shownBatch(row: BatchRow, storeId: string, counts: FileCounts): VectorStoreFileBatch {
  return {
    id: row.id,
    object: "vector_store.files_batch",
    created_at: row.created_at,
    vector_store_id: storeId,
    status: row.is_cancelled === 1 ? "cancelled" : counts.in_progress > 0 ? "in_progress" : "completed",
    file_counts: counts,
  };
}
