/** A backup that cannot be made or restored, for a reason that people can read. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Faults of the system and of SQLite, such as a full disk or a folder that may not be written. */
export function explainedFault(error: unknown, beginning: string): unknown {
  const isOurs = error instanceof BackupError || !(error instanceof Error) || !("code" in error);
  if (isOurs) return error;
  return new BackupError(`${beginning}: ${error.message}.`, { cause: error });
}
