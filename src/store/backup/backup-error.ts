/** A backup that cannot be made or restored, for a reason that people can read. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}
