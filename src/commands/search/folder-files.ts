import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";

/** A file in the folder. */
export interface FolderFile {
  /** From the folder, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** When it was last changed, in milliseconds since 1970. */
  readonly changedAtMs: number;
}

/** The folder has more files than one store can be kept in step with. */
export class TooManyFiles extends Error {
  override readonly name = "TooManyFiles";
}

const FILES_MAX = 100_000;
const DEPTH_MAX = 64;
/** Folders of installed programs, which are large and not by the owner of the folder. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(["node_modules", "__pycache__"]);

/**
 * The files of a folder and of those below it, by their paths. Leaves out hidden ones, links, empty files and folders
 * of installed programs.
 */
export async function listFolder(folder: string): Promise<ReadonlyMap<string, FolderFile>> {
  const files = new Map<string, FolderFile>();
  for await (const path of pathsUnder(folder, DEPTH_MAX)) {
    const facts = await stat(path).catch(() => null); // It may be gone by now.
    if (facts === null || !facts.isFile() || facts.size === 0) continue;
    if (files.size === FILES_MAX) throw new TooManyFiles(`${folder} has more than ${FILES_MAX} files.`);
    const name = relative(folder, path).split(sep).join("/");
    files.set(name, { path: name, bytes: facts.size, changedAtMs: Math.round(facts.mtimeMs) });
  }
  return files;
}

async function* pathsUnder(folder: string, depth: number): AsyncGenerator<string> {
  for await (const entry of await opendir(folder)) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && depth > 0 && !SKIPPED_FOLDERS.has(entry.name)) yield* pathsUnder(path, depth - 1);
  }
}

/** The SHA-256 of a file's content in hexadecimal digits. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
