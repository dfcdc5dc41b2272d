import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../stores/files/file-folder.ts";
import { type BackedUpFile, checkBackup, copyFile, DATABASE_NAME, KEY_FILES } from "./backup-contents.ts";
import { BackupError, explainedFault } from "./backup-error.ts";
import { alone, listUnknownMigrations } from "./database-copy.ts";
import type { BackupSource } from "./make-backup.ts";

export interface Restored {
  readonly files: number;
  readonly hasKeys: boolean;
  /** Where the previous data is now. */
  readonly movedTo: readonly string[];
}

/** A file or folder that a backup may contain, and its target. */
interface Part {
  readonly name: string;
  readonly to: string;
}

/**
 * Replaces the data by a checked backup. Existing data is moved aside if `replaces`; otherwise nothing is changed.
 * Nobody may use the database meanwhile. If anything fails, everything is as before.
 */
export async function restoreBackup(folder: string, target: BackupSource, replaces: boolean): Promise<Restored> {
  const parts = backupParts(target);
  try {
    const files = await checkFor(folder);
    const logs = ["-wal", "-shm", ".redo"].map((end) => target.databaseFile + end);
    const present = [...parts.map(({ to }) => to), ...logs].filter((path) => existsSync(path));
    if (present.length > 0 && !replaces)
      throw new BackupError(`${present.join(", ")} exists already. --replace moves existing data aside.`);
    let movedTo: readonly string[] = [];
    const isAlone = await alone(target.databaseFile, async () => {
      await copyDrafts(folder, parts, files);
      movedTo = await putInPlace(parts, present);
    });
    if (!isAlone) throw new BackupError(`${target.databaseFile} is in use. Stop its servers first.`);
    return { files: files.length, hasKeys: files.some(({ path }) => path === KEY_FILES[0]), movedTo };
  } catch (error) {
    for (const { to } of parts) await rm(draftOf(to), { recursive: true, force: true });
    throw explainedFault(error, "Nothing was restored or changed");
  }
}

/** The files of a backup that is complete and usable by this version of the program. */
async function checkFor(folder: string): Promise<readonly BackedUpFile[]> {
  const { files, version } = await checkBackup(folder);
  const unknown = listUnknownMigrations(join(folder, DATABASE_NAME));
  if (unknown.length === 0) return files;
  throw new BackupError(
    `The backup is of version ${version}, whose tables this version does not know (${unknown.join(", ")}). Install that version or a later one first.`,
  );
}

/** The database is last, so that a server finds either all data or none. */
function backupParts({ databaseFile, dataDir, filesRoot }: BackupSource): readonly Part[] {
  const folders = filesRoot === null ? [] : ["files", "containers"];
  return [
    ...folders.map((name) => ({ name, to: join(filesRoot ?? "", name) })),
    ...KEY_FILES.map((name) => ({ name, to: join(dataDir, name) })),
    { name: DATABASE_NAME, to: databaseFile },
  ];
}

/** Copies everything beside its target, so that little can fail once data is moved. */
async function copyDrafts(folder: string, parts: readonly Part[], files: readonly BackedUpFile[]): Promise<void> {
  for (const { name, to } of parts) {
    await rm(draftOf(to), { recursive: true, force: true });
    const own = files.filter(({ path }) => path === name || path.startsWith(`${name}/`));
    for (const { path } of own) await copyFile(join(folder, path), draftOf(to) + path.slice(name.length));
  }
}

function draftOf(path: string): string {
  return `${path}.restoring`;
}

/**
 * Moves existing data aside and the drafts into place, or nothing if a move fails. The database moves away first and
 * into place last, so that nobody finds it without its files. Returns where the existing data is now.
 */
async function putInPlace(parts: readonly Part[], present: readonly string[]): Promise<readonly string[]> {
  const end = `.before-${new Date().toISOString().replaceAll(/[:.]/g, "")}`;
  const moves: (readonly [from: string, to: string])[] = [];
  const move = async (from: string, to: string): Promise<void> => {
    if (!existsSync(from)) return; // The database's log may be gone by now.
    await rename(from, to);
    moves.push([from, to]);
  };
  try {
    for (const path of present.toReversed()) await move(path, path + end);
    for (const { to } of parts) await move(draftOf(to), to);
  } catch (error) {
    for (const [from, to] of moves.toReversed()) await rename(to, from);
    throw error;
  }
  for (const place of new Set(moves.map(([, to]) => dirname(to)))) await syncFolder(place);
  return present.map((path) => path + end).filter((path) => existsSync(path));
}
