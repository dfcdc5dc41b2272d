import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isPassingName, openNamelessFile, writeAll } from "../../base/nameless-file.ts";

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** A name that is given for a moment is no longer anybody's after this. */
const ABANDONED_AFTER_MS = 60_000;

/** Less room than this is none. */
const PROBE_BYTES = 64 * 1024;

/** A folder of bytes by id, for this user's eyes only. It is made with the first of them. */
export class FileFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves to the number of bytes once they are durable under their name; before, they lie under another. */
  async write(id: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
    await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const bytes = await this.#writePart(id, content, signal);
    await rename(this.#partOf(id), this.#pathOf(id));
    await this.#sync();
    return bytes;
  }

  /** Null if there is none. */
  async read(id: string): Promise<Buffer | null> {
    try {
      return await readFile(this.#pathOf(id));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** The file is opened with the first step. */
  async *stream(id: string): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(this.#pathOf(id))) if (chunk instanceof Uint8Array) yield chunk;
  }

  /** Rejects if nothing can be written here now. */
  async probe(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const handle = await openNamelessFile(this.#folder);
    try {
      await writeAll(handle, Buffer.alloc(PROBE_BYTES, 1));
    } finally {
      await handle.close();
    }
  }

  /** Removes what there is of it. */
  async remove(id: string): Promise<void> {
    await rm(this.#partOf(id), { force: true });
    await rm(this.#pathOf(id), { force: true });
  }

  /** Removes what was left by processes that were killed while they made a file. */
  async removeAbandoned(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter(isPassingName)) {
      const path = join(this.#folder, name);
      const made = await stat(path).catch(() => null); // It may be gone by now.
      if (made !== null && Date.now() - made.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
    }
  }

  /** Removes all of it. */
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

  /** Makes the names in the folder durable. */
  async #sync(): Promise<void> {
    const handle = await open(this.#folder, "r");
    try {
      await handle.sync();
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
