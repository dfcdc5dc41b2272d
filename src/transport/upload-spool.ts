import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { HeldBytes } from "../base/byte-budget.ts";
import { randomHex } from "../base/ids.ts";

/** What arrived, and the way to have it again. */
export interface SpooledUpload {
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

const READ_BYTES = 256 * 1024;

/** Keeps the files of one form while its request is served: in memory, or in files of a folder that have no name and so cannot outlive this process. */
export class UploadSpool {
  readonly #folder: string | null;
  readonly #held: HeldBytes;
  readonly #handles: FileHandle[] = [];
  #isReleased = false;

  /** `folder` null: in memory. It is made when it is needed. `held`: what the form holds in memory, which is less by what lies on the disk. */
  constructor(folder: string | null, held: HeldBytes) {
    this.#folder = folder;
    this.#held = held;
  }

  /** Notes that bytes of the form came. False: there is no room for them. */
  admit(bytes: number): boolean {
    return this.#held.add(bytes);
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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `upload-${randomHex(32)}`);
    const handle = await open(path, "wx+", 0o600);
    this.#handles.push(handle);
    await unlink(path);
    if (this.#isReleased) await this.release(); // It was before this file was open.
    await handle.writeFile(this.#untilReleased(content));
    const { size } = await handle.stat();
    return { size, read: () => readHandle(handle) };
  }

  async *#untilReleased(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      if (this.#isReleased) throw new Error("nobody waits for this upload any more");
      yield piece;
      this.#held.remove(piece.length);
    }
  }
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
