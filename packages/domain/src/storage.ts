import type { Owner } from "./owner.ts";

/** The stored items are larger than one request may load into memory. */
export class ContextTooLong extends Error {
  override readonly name = "ContextTooLong";
}

/** The file is damaged or no SQLite database. It was not changed. */
export class StoreSpoilt extends Error {
  override readonly name = "StoreSpoilt";
}

/** The file storage does not respond or is overloaded. No bytes of files were shown or lost. */
export class FileStorageAway extends Error {
  override readonly name = "FileStorageAway";

  constructor(cause: unknown) {
    super("the storage of files does not answer", { cause });
  }
}

/** Limits the storage of each owner. */
export interface StorageQuota {
  /**
   * Rejects with `StorageQuotaExceeded` if there is no room for `bytes` more, or for any if `bytes` is absent.
   * Concurrent calls may pass together, so a store compares large writes again while it writes.
   */
  requireRoom(owner: Owner, bytes?: number): Promise<void>;
}

/** The owner's storage limit is reached. */
export class StorageQuotaExceeded extends Error {
  override readonly name = "StorageQuotaExceeded";
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`the storage limit of ${bytesMax} bytes for each owner is reached`);
    this.bytesMax = bytesMax;
  }
}
