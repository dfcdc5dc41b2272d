import { mkdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerBytes } from "../files/file-bytes.ts";
import { FileFolder, syncFolder } from "../files/file-folder.ts";

const OWNER_ONLY = 0o700;

/** The contents of container files: a folder per container, named by its id and created with its first file. */
export class ContainerFolder implements ContainerBytes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves to the number of bytes once they are durable. */
  async write(
    containerId: string,
    fileId: string,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<number> {
    const isNew = (await mkdir(join(this.#folder, containerId), { recursive: true, mode: OWNER_ONLY })) !== undefined;
    if (isNew) await syncFolder(this.#folder);
    return await this.#filesOf(containerId).write(fileId, content, signal);
  }

  /** Opens the file at the first read. */
  stream(containerId: string, fileId: string): AsyncIterable<Uint8Array> {
    return this.#filesOf(containerId).stream(fileId);
  }

  /** Removes the file, and the folder of its container if it was the last. */
  async remove(containerId: string, fileId: string): Promise<void> {
    await this.#filesOf(containerId).remove(fileId);
    await rmdir(join(this.#folder, containerId)).catch((error: unknown) => {
      if (!isKept(error)) throw error;
    });
  }

  async removeUnfinished(containerId: string, fileId: string): Promise<void> {
    await this.remove(containerId, fileId);
  }

  /** Removes all files of a container. Another node may just write one, so it is tried again. */
  async removeContainer(containerId: string): Promise<void> {
    await rm(join(this.#folder, containerId), { recursive: true, force: true, ...TRIED_AGAIN });
  }

  /** Removes everything. */
  async removeAll(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #filesOf(containerId: string): FileFolder {
    return new FileFolder(join(this.#folder, containerId));
  }
}

/** Whether a folder remained because it has files, or because it is already gone. */
/** How often a folder is removed again that is not empty, and the pause in milliseconds, which grows by itself. */
const TRIED_AGAIN = { maxRetries: 10, retryDelay: 10 };

function isKept(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOENT";
}
