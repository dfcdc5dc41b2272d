import { FileStorageAway } from "../../../domain/storage.ts";

/** Beyond this number, files stay until another worker finds that their holder is dead. */
const WAITING_MAX = 10_000;

/**
 * Removes files that nobody can see any more. While their storage is away they wait, because whoever asked for the
 * removal has nothing to gain from an error.
 */
export class Removals<File> {
  readonly #removeOne: (file: File) => Promise<void>;
  #waiting: File[] = [];

  constructor(removeOne: (file: File) => Promise<void>) {
    this.#removeOne = removeOne;
  }

  /** Rejects with any error but `FileStorageAway`. */
  async remove(files: readonly File[]): Promise<void> {
    for (const [index, file] of files.entries()) {
      try {
        await this.#removeOne(file);
      } catch (error) {
        if (!(error instanceof FileStorageAway)) throw error;
        this.#waiting = [...this.#waiting, ...files.slice(index)].slice(0, WAITING_MAX);
        return;
      }
    }
  }

  /** Tries again what could not be removed. */
  async removeWaiting(): Promise<void> {
    await this.remove(this.#waiting.splice(0));
  }
}
