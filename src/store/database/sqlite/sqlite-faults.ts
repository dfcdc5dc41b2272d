import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
/** The lowest byte of an error code is its primary code; the higher bytes are details. */
const PRIMARY_CODES = 256;

/** Whether another connection holds a lock that the statement needs. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

/** Whether the file is not a database, or is corrupt. */
export function isSpoilt(error: unknown): boolean {
  const code = primaryCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode % PRIMARY_CODES;
}

export function busyError(waitedMs: number, cause: unknown): StoreBusy {
  return new StoreBusy(`Another process has kept the database locked for more than ${waitedMs} ms.`, { cause });
}

export function spoiltError(cause: unknown): StoreSpoilt {
  const detail = cause instanceof Error ? ` (${cause.message})` : "";
  return new StoreSpoilt(`The database is damaged, or no SQLite database${detail}.`, { cause });
}
