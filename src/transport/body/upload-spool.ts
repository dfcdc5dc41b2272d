import { type FileHandle, mkdir } from "node:fs/promises";
import type { HeldBytes } from "../../base/limits/byte-budget.ts";
import { openNamelessFile, writeAll } from "../../base/nameless-file.ts";

/** What arrived, and the way to have it again. */
export interface SpooledUpload {
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

const READ_BYTES = 256 * 1024;

/**
 * Keeps the files of one form while its request is served: in memory, or in files of a folder that have no name and so
 * cannot outlive this process.
 */
export class UploadSpool {
  readonly #folder: string | null;
  readonly #held: HeldBytes;
  readonly #handles: FileHandle[] = [];
  #isReleased = false;
  #fault: SpoolFault | null = null;

  /**
   * `folder` null: in memory. It is made when it is needed. `held`: what the form holds in memory, which is less by
   * what lies on the disk.
   */
  constructor(folder: string | null, held: HeldBytes) {
    this.#folder = folder;
    this.#held = held;
  }

  /** Notes that bytes of the form came. False: there is no room for them. */
  admit(bytes: number): boolean {
    return this.#held.add(bytes);
  }

  /** Why an upload could not be kept; streams that end because of it say no more than that they were aborted. */
  get fault(): SpoolFault | null {
    return this.#fault;
  }

  async keep(content: AsyncIterable<Uint8Array>): Promise<SpooledUpload> {
    return this.#folder === null ? keepInMemory(content) : this.#keepOnDisk(this.#folder, content);
  }

  /** Nothing that was kept can be read afterwards, and what still comes in is not kept. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#held.release();
    await Promise.all(this.#handles.splice(0).map((handle) => handle.close()));
  }

  async #keepOnDisk(folder: string, content: AsyncIterable<Uint8Array>): Promise<SpooledUpload> {
    const handle = await this.#stored(openIn(folder));
    this.#handles.push(handle);
    if (this.#isReleased) await this.release(); // It was before this file was open.
    let size = 0;
    for await (const piece of content) {
      if (this.#isReleased) throw new Error("nobody waits for this upload any more");
      await this.#stored(writeAll(handle, piece));
      this.#held.remove(piece.length);
      size += piece.length;
    }
    return { size, read: () => readHandle(handle) };
  }

  async #stored<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      if (this.#isReleased) throw new Error("nobody waits for this upload any more", { cause });
      this.#fault = new SpoolFault("an upload could not be kept", { cause });
      throw this.#fault;
    }
  }
}

/** An upload could not be kept for a reason that is not its sender's; the cause says which. */
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
