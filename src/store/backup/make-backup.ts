import { existsSync, rmSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { syncFolder } from "../stores/files/file-folder.ts";
import {
  type BackedUpFile,
  type BackupSummary,
  checkBackup,
  copyFile,
  DATABASE_NAME,
  describeBackup,
  KEY_FILES,
  sumOf,
} from "./backup-contents.ts";
import { BackupError, explainedFault } from "./backup-error.ts";
import { copyDatabase, type FileOfRow, forgetFiles, listFilesOfRows } from "./database-copy.ts";

export interface BackupSource {
  readonly databaseFile: string;
  /** The folder of the key files. */
  readonly dataDir: string;
  /** The folder of `files` and `containers`; null if this program cannot copy the storage of files. */
  readonly filesRoot: string | null;
}

export interface BackupOptions {
  readonly withKeys: boolean;
  readonly version: string;
  /** Sentences about data stored elsewhere. */
  readonly elsewhere: readonly string[];
  /** Removes the partial copy and stops as soon as possible. */
  readonly signal?: AbortSignal;
}

const OWNER_ONLY_FOLDER = 0o700;

/**
 * Backs everything up into a new folder while servers run. The backup is a snapshot, without files that were deleted
 * during the backup. The folder gets its name once all checksums and the database are verified.
 */
export async function makeBackup(source: BackupSource, folder: string, options: BackupOptions): Promise<BackupSummary> {
  const place = resolve(folder);
  if (existsSync(place)) throw new BackupError(`${folder} exists already. A backup needs a new folder.`);
  if (!existsSync(source.databaseFile)) throw new BackupError(`The database ${source.databaseFile} does not exist.`);
  const draft = `${place}.partial-${process.pid}`;
  // SQLite copies the database in one step and ignores the signal, so an aborted caller need not wait for it.
  const removeDraft = (): void => rmSync(draft, { recursive: true, force: true });
  options.signal?.addEventListener("abort", removeDraft, { once: true });
  try {
    await mkdir(draft, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const summary = await fill(draft, source, options);
    await checkBackup(draft);
    options.signal?.throwIfAborted();
    await rename(draft, place);
    await syncFolder(dirname(place));
    return summary;
  } catch (error) {
    removeDraft();
    throw explainedFault(error, "No backup was made");
  } finally {
    options.signal?.removeEventListener("abort", removeDraft);
  }
}

async function fill(draft: string, source: BackupSource, { withKeys, version, elsewhere }: BackupOptions) {
  const madeAt = new Date().toISOString();
  const database = join(draft, DATABASE_NAME);
  await copyDatabase(source.databaseFile, database);
  const copies = source.filesRoot === null ? [] : await copyFiles(source.filesRoot, draft, database);
  const keys = withKeys ? await copyKeys(source.dataDir, draft) : [];
  const files = [{ path: DATABASE_NAME, sha256: await sumOf(database) }, ...keys, ...copies];
  const notIncluded = withKeys ? elsewhere : [...elsewhere, KEYS_LEFT_OUT];
  return await describeBackup(draft, files, { madeAt, version, notIncluded });
}

const KEYS_LEFT_OUT =
  "The files seal-key and api-key of the data folder. Without the same sealing keys, sealed reasoning, compactions and secrets of waiting responses cannot be opened.";

/** Copies the files of the rows. Files deleted meanwhile are removed from the copy of the database, too. */
async function copyFiles(root: string, draft: string, database: string): Promise<readonly BackedUpFile[]> {
  const copies: BackedUpFile[] = [];
  const missingFiles: FileOfRow[] = [];
  for (const file of listFilesOfRows(database)) {
    const sha256 = await copyFile(join(root, file.path), join(draft, file.path));
    if (sha256 === null) missingFiles.push(file);
    else copies.push({ path: file.path, sha256 });
  }
  if (missingFiles.length > 0) forgetFiles(database, missingFiles);
  return copies;
}

async function copyKeys(dataDir: string, draft: string): Promise<readonly BackedUpFile[]> {
  const copies: BackedUpFile[] = [];
  for (const path of KEY_FILES) {
    const sha256 = await copyFile(join(dataDir, path), join(draft, path));
    if (sha256 !== null) copies.push({ path, sha256 });
  }
  return copies;
}

/** Names in one folder contain their time, so that they sort by time. */
const TIMED_NAME = /^antiphon-\d{4}-\d\d-\d\dT\d{6}Z$/;

export function timedName(now: Date): string {
  return `antiphon-${now.toISOString().replaceAll(":", "").replace(/\.\d+/, "")}`;
}

/** Left by a process that was killed during a backup. */
const UNFINISHED_NAME = /^antiphon-\d{4}-\d\d-\d\dT\d{6}Z\.partial-\d+$/;
/** No backup takes this long. */
const UNFINISHED_MS_MAX = 24 * 3600_000;

/**
 * Removes all but the newest of the backups with timed names, and partial backups that are more than a day old.
 * Resolves to the names of the removed ones.
 */
export async function removeOldBackups(folder: string, keep: number): Promise<readonly string[]> {
  const names = (await readdir(folder)).toSorted();
  const whole = names.filter((name) => TIMED_NAME.test(name));
  const old = whole.slice(0, Math.max(0, whole.length - keep));
  for (const name of names.filter((one) => UNFINISHED_NAME.test(one)))
    if (Date.now() - (await stat(join(folder, name))).mtimeMs > UNFINISHED_MS_MAX) old.push(name);
  for (const name of old) await rm(join(folder, name), { recursive: true, force: true });
  return old;
}
