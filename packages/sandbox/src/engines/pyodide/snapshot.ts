import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CHILD_FOLDER, PYODIDE_FOLDER, PYODIDE_VERSION } from "./child-command.ts";

const NAME_START = "pyodide-";
const NAME_END = ".snapshot";
const HASH_CHARACTERS = 32;
/** A snapshot has 31 MB, wheels not included. */
export const SNAPSHOT_BYTES_MAX = 256 * 1024 * 1024;
/** At the end of the file, over everything before it. The child skips these bytes. */
const DIGEST_BYTES = 32;
/** Other files unused for this long are removed. */
const UNUSED_MS = 24 * 60 * 60 * 1000;
const WRITTEN_MODE = 0o600;

/** A file whose name contains its sources, so that a snapshot of another version is never used. */
export async function snapshotPath(folder: string, notebook: string, wheels: string | null): Promise<string> {
  const hash = createHash("sha256").update(notebook);
  hash.update(await readFile(`${PYODIDE_FOLDER}pyodide-lock.json`)).update(await sizes(PYODIDE_FOLDER));
  for (const name of (await readdir(CHILD_FOLDER)).toSorted()) hash.update(await readFile(`${CHILD_FOLDER}${name}`));
  if (wheels !== null) hash.update(await sizes(wheels));
  const name = `${NAME_START}${PYODIDE_VERSION}-${hash.digest("hex").slice(0, HASH_CHARACTERS)}${NAME_END}`;
  return join(folder, name);
}

/** Whether this file is an intact snapshot. */
export async function isWholeSnapshot(path: string): Promise<boolean> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null || bytes.length <= DIGEST_BYTES) return false;
  const content = bytes.subarray(0, -DIGEST_BYTES);
  return digestOf([content]).equals(bytes.subarray(-DIGEST_BYTES));
}

function digestOf(pieces: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/** Writes it atomically, and removes files unused for a day. */
export async function storeSnapshot(path: string, folder: string, pieces: readonly Uint8Array[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeWhole(part, [...pieces, digestOf(pieces)]);
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  await removeUnused(folder, path);
}

async function writeWhole(path: string, pieces: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, "wx", WRITTEN_MODE);
  try {
    for (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function removeUnused(folder: string, except: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path === except || !name.startsWith(NAME_START)) continue;
    const stats = await stat(path).catch(() => null);
    if (stats !== null && Date.now() - Math.max(stats.mtimeMs, stats.atimeMs) > UNUSED_MS)
      await rm(path, { force: true });
  }
}

async function sizes(folder: string): Promise<string> {
  const entries = (await readdir(folder)).toSorted();
  const lines = entries.map(async (name) => {
    const { size, mtimeMs } = await stat(`${folder}${name}`);
    return `${name} ${size} ${mtimeMs}\n`;
  });
  return (await Promise.all(lines)).join("");
}
