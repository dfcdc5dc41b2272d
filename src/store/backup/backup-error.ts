/** A backup that cannot be made or restored, with a reason for people. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Explains errors of the system and of SQLite, such as a full disk or a read-only folder. */
export function explainedFault(error: unknown, beginning: string): unknown {
  const isOurs = error instanceof BackupError || !(error instanceof Error) || !("code" in error);
  if (isOurs) return error;
  return new BackupError(`${beginning}: ${error.message}.`, { cause: error });
}
