const FULL_CODES: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const SQLITE_FULL = 13;

/** Whether an error or one of its causes means a lack of space: a full disk, a quota, or a limit on file sizes. */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFull =
    ("code" in error && FULL_CODES.has(error.code)) || ("errcode" in error && error.errcode === SQLITE_FULL);
  return isFull || isStorageFull(error.cause);
}
