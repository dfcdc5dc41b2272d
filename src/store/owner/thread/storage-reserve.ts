import { randomBytes } from "node:crypto";
import { closeSync, ftruncateSync, openSync, statfsSync, statSync, truncateSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isStorageFull } from "@antiphon/base/storage-full.ts";
import { Turns } from "../../database/sqlite/turns.ts";

/** The maximum written between two checks of the log: the pages that trigger a copy, and a large transaction. */
const RESERVE_BYTES = 8 * 1024 * 1024;
/** The reserve takes at most this share of the free space, so that it never fills the disk by itself. */
const PART_OF_FREE = 0.5;
/** Bytes that are written at once. */
const PIECE_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o600;

/**
 * A file beside the database that reserves disk space for deletions. A deletion is written to the write-ahead log, and
 * the space that it frees is usable only after the log was copied into the database. So the reserve is a little larger
 * than the log: without it, a full disk would stay full.
 */
export class StorageReserve {
  readonly #file: string;
  readonly #log: string;
  readonly #turns = new Turns(1);
  #isSpent = false;

  constructor(database: string) {
    this.#file = `${database}-reserve`;
    this.#log = `${database}-wal`;
  }

  /** Grows the reserve to its size, or as far as the disk allows. */
  fill(): void {
    if (this.#isSpent) return;
    try {
      const target = RESERVE_BYTES + fileSize(this.#log);
      const size = fileSize(this.#file);
      if (size < target) this.#grow(size, Math.min(target, size + freeBeside(this.#file) * PART_OF_FREE));
    } catch {
      // It stays smaller. If nothing can be written, the database reports it.
    }
  }

  /**
   * Runs this work; if there is no room, repeats it with the room of the reserve. `copyLog` copies the log into the
   * database and empties it.
   */
  async during<Result>(work: () => Promise<Result>, copyLog: () => Promise<void>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!isStorageFull(error)) throw error;
    }
    await this.#turns.take();
    try {
      this.#spend();
      await copyLog();
      const result = await work();
      await copyLog();
      return result;
    } finally {
      this.#isSpent = false;
      this.fill();
      this.#turns.giveBack();
    }
  }

  #spend(): void {
    this.#isSpent = true;
    if (fileSize(this.#file) > 0) truncateSync(this.#file);
  }

  /** Writes random bytes, because some disks reserve no space for zeros. */
  #grow(from: number, to: number): void {
    const end = Math.floor(to);
    const file = openSync(this.#file, "a", OWNER_ONLY);
    try {
      const piece = randomBytes(Math.min(PIECE_BYTES, end - from));
      for (let at = from; at < end; ) at += writeSync(file, piece, 0, Math.min(piece.length, end - at));
    } catch (error) {
      ftruncateSync(file, from);
      throw error;
    } finally {
      closeSync(file);
    }
  }
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The free bytes on the disk of this file. */
function freeBeside(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}
