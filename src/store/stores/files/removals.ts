import { FileStorageAway } from "@antiphon/domain/storage.ts";

/** Beyond this number, files remain until another worker finds that their holder is dead. */
const WAITING_MAX = 10_000;

/** Removes invisible files. While their storage is down they wait, because an error would not help the caller. */
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

  /** Retries failed removals. */
  async removeWaiting(): Promise<void> {
    await this.remove(this.#waiting.splice(0));
  }
}
