import type { ApiError } from "../../base/api-error.ts";
import { StorageQuotaExceeded, StoreBusy } from "../ports.ts";
import { storageQuotaExceeded, storeBusy } from "./server-errors.ts";

/** What a refusal of the store says to callers; null for anything else that was thrown. */
export function ofStore(error: unknown): ApiError | null {
  if (error instanceof StoreBusy) return storeBusy(error);
  return error instanceof StorageQuotaExceeded ? storageQuotaExceeded(error.bytesMax) : null;
}
