import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../files/file-folder.ts";
import {
  type BackedUpFile,
  checkBackup,
  copyFile,
  DATABASE_NAME,
  KEY_FILES,
  nullIfMissing,
} from "./backup-contents.ts";
import { BackupError } from "./backup-error.ts";
import { alone } from "./database-copy.ts";
import type { BackupSource } from "./make-backup.ts";

export interface Restored {
  readonly files: number;
  readonly hasKeys: boolean;
  /** Where data lie now that were there before. */
  readonly movedTo: readonly string[];
}

/** A file or folder that a backup may hold, and its place. */
interface Part {
  readonly name: string;
  readonly to: string;
}

/**
 * Puts a checked backup in the place of the data. Data that are there already are moved aside if `replaces`; otherwise
 * nothing is changed. Nobody may use the database meanwhile.
 */
export async function restoreBackup(folder: string, target: BackupSource, replaces: boolean): Promise<Restored> {
  const files = await checkBackup(folder);
  const parts = partsOf(target);
  const logs = ["-wal", "-shm"].map((end) => target.databaseFile + end);
  const present = [...parts.map(({ to }) => to), ...logs].filter((path) => existsSync(path));
  if (present.length > 0 && !replaces)
    throw new BackupError(`${present.join(", ")}: there already. --replace moves these aside.`);
  let movedTo: readonly string[] = [];
  const isAlone = await alone(target.databaseFile, async () => {
    await copyDrafts(folder, parts, files);
    movedTo = await moveAside(present);
    for (const { to } of parts) if (existsSync(draftOf(to))) await rename(draftOf(to), to);
    for (const place of new Set(parts.map(({ to }) => dirname(to)))) await syncFolder(place);
  });
  if (!isAlone) throw new BackupError(`${target.databaseFile} is in use. Stop the servers that use it first.`);
  return { files: files.length, hasKeys: files.some(({ path }) => path === KEY_FILES[0]), movedTo };
}

/** The database is the last, so that a server finds either all or no data. */
function partsOf({ databaseFile, dataDir, filesRoot }: BackupSource): readonly Part[] {
  const folders = filesRoot === null ? [] : ["files", "containers"];
  return [
    ...folders.map((name) => ({ name, to: join(filesRoot ?? "", name) })),
    ...KEY_FILES.map((name) => ({ name, to: join(dataDir, name) })),
    { name: DATABASE_NAME, to: databaseFile },
  ];
}

/** Copies everything beside its place, so that little can go wrong once data are moved. */
async function copyDrafts(folder: string, parts: readonly Part[], files: readonly BackedUpFile[]): Promise<void> {
  try {
    for (const { name, to } of parts) {
      await rm(draftOf(to), { recursive: true, force: true });
      const own = files.filter(({ path }) => path === name || path.startsWith(`${name}/`));
      for (const { path } of own) await copyFile(join(folder, path), draftOf(to) + path.slice(name.length));
    }
  } catch (error) {
    for (const { to } of parts) await rm(draftOf(to), { recursive: true, force: true });
    throw error;
  }
}

function draftOf(path: string): string {
  return `${path}.restoring`;
}

async function moveAside(paths: readonly string[]): Promise<readonly string[]> {
  const end = `.before-${new Date().toISOString().replaceAll(/[:.]/g, "")}`;
  for (const path of paths) await rename(path, path + end).catch(nullIfMissing); // The log may be gone by now.
  return paths.map((path) => path + end).filter((path) => existsSync(path));
}
