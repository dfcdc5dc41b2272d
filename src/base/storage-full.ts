const FULL_CODES: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const SQLITE_FULL = 13;

/**
 * Whether something failed because there is no room to store it: a full disk, a quota, or a limit of file sizes. Looks
 * at causes too.
 */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFull =
    ("code" in error && FULL_CODES.has(error.code)) || ("errcode" in error && error.errcode === SQLITE_FULL);
  return isFull || isStorageFull(error.cause);
}
