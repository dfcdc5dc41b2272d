import type { ApiError } from "@antiphon/base/api-error.ts";
import { FileStorageAway, StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { StoreAway, StoreBusy } from "../../runs/ports/store-faults.ts";
import { fileStorageAway, storageQuotaExceeded, storeAway, storeBusy } from "./server-errors.ts";

/** The error that callers get for a refusal of the store; null for any other error. */
export function storeError(error: unknown): ApiError | null {
  if (error instanceof StoreAway) return storeAway(error);
  if (error instanceof StoreBusy) return storeBusy(error);
  if (error instanceof FileStorageAway) return fileStorageAway(error);
  return error instanceof StorageQuotaExceeded ? storageQuotaExceeded(error.bytesMax) : null;
}
