import { type FileHandle, mkdir } from "node:fs/promises";
import { openNamelessFile, writeAll } from "@antiphon/base/files/nameless-file.ts";
import type { HeldBytes } from "@antiphon/base/limits/byte-budget.ts";

/** A stored upload. `read` returns its content from the start and can be called repeatedly. */
export interface SpooledUpload {
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

const READ_BYTES = 256 * 1024;

/**
 * Stores the files of one form while its request is served: in memory, or in nameless files, which vanish with the
 * process.
 */
export class UploadSpool {
  readonly #folder: string | null;
  readonly #heldBytes: HeldBytes;
  readonly #handles: FileHandle[] = [];
  #isReleased = false;
  #fault: SpoolFault | null = null;

  /**
   * With `folder` null, files are kept in memory; otherwise the folder is created when needed. `heldBytes` counts the
   * bytes of the form that are in memory.
   */
  constructor(folder: string | null, heldBytes: HeldBytes) {
    this.#folder = folder;
    this.#heldBytes = heldBytes;
  }

  /** Counts received bytes of the form. Returns false if they exceed the budget. */
  admit(bytes: number): boolean {
    return this.#heldBytes.add(bytes);
  }

  /** Why an upload could not be stored. The streams that fail because of it only report that they were aborted. */
  get fault(): SpoolFault | null {
    return this.#fault;
  }

  async keep(content: AsyncIterable<Uint8Array>): Promise<SpooledUpload> {
    return this.#folder === null ? keepInMemory(content) : this.#keepOnDisk(this.#folder, content);
  }

  /** Frees all uploads: none can be read afterwards, and uploads that are still arriving fail. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#heldBytes.release();
    await Promise.all(this.#handles.splice(0).map((handle) => handle.close()));
  }

  async #keepOnDisk(folder: string, content: AsyncIterable<Uint8Array>): Promise<SpooledUpload> {
    const handle = await this.#guardStorage(openIn(folder));
    this.#handles.push(handle);
    if (this.#isReleased) await this.release(); // Released while the file was being opened.
    let size = 0;
    for await (const piece of content) {
      if (this.#isReleased) throw new Error("the spool was released before the upload was complete");
      await this.#guardStorage(writeAll(handle, piece));
      this.#heldBytes.remove(piece.length);
      size += piece.length;
    }
    return { size, read: () => readHandle(handle) };
  }

  async #guardStorage<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      if (this.#isReleased) throw new Error("the spool was released before the upload was complete", { cause });
      this.#fault = new SpoolFault("an upload could not be stored", { cause });
      throw this.#fault;
    }
  }
}

/** An upload could not be stored, for a server-side reason given by `cause`. */
export class SpoolFault extends Error {
  override readonly name = "SpoolFault";
}

async function openIn(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return openNamelessFile(folder);
}

async function keepInMemory(content: AsyncIterable<Uint8Array>): Promise<SpooledUpload> {
  const bytes = Buffer.concat(await Array.fromAsync(content));
  return { size: bytes.length, read: () => once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* readHandle(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
