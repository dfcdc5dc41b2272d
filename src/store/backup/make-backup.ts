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
  /** The folder with the files of keys. */
  readonly dataDir: string;
  /** The folder with `files` and `containers`; null if files are kept where this program cannot copy them. */
  readonly filesRoot: string | null;
}

export interface BackupOptions {
  readonly withKeys: boolean;
  readonly version: string;
  /** Sentences about what is kept elsewhere. */
  readonly elsewhere: readonly string[];
  /** Removes what was copied so far and ends the work as soon as that is possible. */
  readonly signal?: AbortSignal;
}

const OWNER_ONLY_FOLDER = 0o700;

/**
 * Backs everything up into a new folder while servers go on. It is as of one moment, but without the files that were
 * deleted during the backup. The folder gets its name once all sums and the database have been checked.
 */
export async function makeBackup(source: BackupSource, folder: string, options: BackupOptions): Promise<BackupSummary> {
  const place = resolve(folder);
  if (existsSync(place)) throw new BackupError(`${folder} is there already. A backup is made in a new folder.`);
  if (!existsSync(source.databaseFile)) throw new BackupError(`There is no database ${source.databaseFile}.`);
  const draft = `${place}.partial-${process.pid}`;
  // SQLite copies the database in one piece and hears no signal, so a caller that was told to end need not wait for it.
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
  const copied = source.filesRoot === null ? [] : await copyFiles(source.filesRoot, draft, database);
  const keys = withKeys ? await copyKeys(source.dataDir, draft) : [];
  const files = [{ path: DATABASE_NAME, sha256: await sumOf(database) }, ...keys, ...copied];
  const notIncluded = withKeys ? elsewhere : [...elsewhere, KEYS_LEFT_OUT];
  return await describeBackup(draft, files, { madeAt, version, notIncluded });
}

const KEYS_LEFT_OUT =
  "The files seal-key and api-key of the data folder. Without the same sealing keys, sealed reasoning, compactions and secrets of waiting responses cannot be opened.";

/** Copies what the rows say. Files that are deleted meanwhile are forgotten in the copy of the database, too. */
async function copyFiles(root: string, draft: string, database: string): Promise<readonly BackedUpFile[]> {
  const copied: BackedUpFile[] = [];
  const gone: FileOfRow[] = [];
  for (const file of listFilesOfRows(database)) {
    const sha256 = await copyFile(join(root, file.path), join(draft, file.path));
    if (sha256 === null) gone.push(file);
    else copied.push({ path: file.path, sha256 });
  }
  if (gone.length > 0) forgetFiles(database, gone);
  return copied;
}

async function copyKeys(dataDir: string, draft: string): Promise<readonly BackedUpFile[]> {
  const copied: BackedUpFile[] = [];
  for (const path of KEY_FILES) {
    const sha256 = await copyFile(join(dataDir, path), join(draft, path));
    if (sha256 !== null) copied.push({ path, sha256 });
  }
  return copied;
}

/** Backups in one folder are named by their time, so that their names are in its order. */
const TIMED_NAME = /^antiphon-\d{4}-\d\d-\d\dT\d{6}Z$/;

export function timedName(now: Date): string {
  return `antiphon-${now.toISOString().replaceAll(":", "").replace(/\.\d+/, "")}`;
}

/** What a process leaves that was killed while it made a backup. */
const UNFINISHED_NAME = /^antiphon-\d{4}-\d\d-\d\dT\d{6}Z\.partial-\d+$/;
/** No backup takes as long as this. */
const UNFINISHED_MS_MAX = 24 * 3600_000;

/**
 * Removes all but the newest of the backups that are named by their time, and what others of such names left that were
 * killed more than a day ago. Resolves to the names of the removed.
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
