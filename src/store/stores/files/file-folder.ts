import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isPassingName, openNamelessFile, writeAll } from "@antiphon/base/files/nameless-file.ts";
import type { FileBytes } from "./file-bytes.ts";

/** The time limit for receiving and writing a file, in milliseconds. */
const WRITE_MS_MAX = 15 * 60_000;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Older temporary files are abandoned. */
const ABANDONED_AFTER_MS = 60_000;

/** The disk counts as full with less room than this. */
const PROBE_BYTES = 64 * 1024;

/** A folder of file contents by id, readable only by this user. It is created with the first file. */
export class FileFolder implements FileBytes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes to a temporary name first. Resolves to the number of bytes once they are durable under their final name. */
  async write(id: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
    await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const bytes = await this.#writePart(id, content, signal);
    await rename(this.#partOf(id), this.#pathOf(id));
    await syncFolder(this.#folder);
    return bytes;
  }

  /** Null if there is no such file. */
  async read(id: string): Promise<Buffer | null> {
    try {
      return await readFile(this.#pathOf(id));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Opens the file at the first read. */
  async *stream(id: string): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(this.#pathOf(id))) if (chunk instanceof Uint8Array) yield chunk;
  }

  /** Whether the folder can be written now. */
  async hasRoom(): Promise<boolean> {
    return await this.#probe().then(
      () => true,
      () => false,
    );
  }

  async #probe(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const handle = await openNamelessFile(this.#folder);
    try {
      await writeAll(handle, Buffer.alloc(PROBE_BYTES, 1));
    } finally {
      await handle.close();
    }
  }

  /** Removes the file and its temporary file, if they exist. */
  async remove(id: string): Promise<void> {
    await rm(this.#partOf(id), { force: true });
    await rm(this.#pathOf(id), { force: true });
  }

  async removeUnfinished(id: string): Promise<void> {
    await this.remove(id);
  }

  /** Removes temporary files of processes that were killed. */
  async removeAbandoned(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter(isPassingName)) {
      const path = join(this.#folder, name);
      const stats = await stat(path).catch(() => null); // Another process may have removed it.
      if (stats !== null && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
    }
  }

  /** Removes the folder and all files. */
  async removeAll(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #writePart(id: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
    const handle = await open(this.#partOf(id), "wx", OWNER_ONLY_FILE);
    try {
      await handle.writeFile(content, { signal });
      await handle.sync();
      return (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  }

  #pathOf(id: string): string {
    return join(this.#folder, id);
  }

  #partOf(id: string): string {
    return join(this.#folder, `${id}.part`);
  }
}

/** Aborts with `signal`, or when writing takes too long. */
export function writeSignal(signal: AbortSignal | undefined): AbortSignal {
  const deadline = AbortSignal.timeout(WRITE_MS_MAX);
  return signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
