import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { FileContent, StoredFile } from "@antiphon/domain/files.ts";
import { type Owner, ownerText } from "@antiphon/domain/owner.ts";
import { FileStorageAway } from "@antiphon/domain/storage.ts";
import type { Fetched } from "@antiphon/egress/egress.ts";
import { EgressError } from "@antiphon/egress/egress-error.ts";
import { type DownloadCodes, notDownloaded } from "./download-errors.ts";
import { fileStorageAway, tooManyParts, tooMuchMedia } from "./file-errors.ts";
import type { MediaOptions } from "./media-options.ts";

/** Downloads and file reads at the same time for one request. */
const LOADS_AT_ONCE_MAX = 4;
/**
 * Downloads and file reads for one request in total, so that a request cannot cause a flood of calls to other servers.
 */
const LOADS_MAX = 500;

/** How to fetch the URL of one kind of part, and the codes of its errors. */
export interface DownloadPlan {
  /** The member of the part with the URL. */
  readonly member: string;
  readonly bytesMax: number;
  readonly accept: readonly string[] | null;
  readonly codes: DownloadCodes;
}

/** Loads the URLs and files of the parts of one request, a few at a time and within the limits of a request. */
export class LoadedParts {
  readonly #options: MediaOptions;
  readonly #owner: Owner;
  readonly signal: AbortSignal;
  readonly #slots = new Semaphore(LOADS_AT_ONCE_MAX);
  #bytes = 0;
  #loads = 0;

  constructor(options: MediaOptions, owner: Owner, signal: AbortSignal) {
    this.#options = options;
    this.#owner = owner;
    this.signal = signal;
  }

  async download(url: string, { member, bytesMax, accept, codes }: DownloadPlan): Promise<Fetched> {
    const { egress } = this.#options;
    const caller = ownerText(this.#owner);
    this.#count();
    try {
      return await this.#load(() => egress.fetchGuarded(url, { bytesMax, accept, signal: this.signal, caller }));
    } catch (error) {
      throw error instanceof EgressError ? notDownloaded(error, codes, member) : error;
    }
  }

  /**
   * Null for an unknown file, and for one of another owner. `check` gets the file's metadata before it is read, and may
   * throw.
   */
  async readUpload(fileId: string, check: (file: StoredFile) => void): Promise<FileContent | null> {
    const { files } = this.#options;
    this.#count();
    const file = await files.findFile(this.#owner, fileId);
    if (file === null) return null;
    check(file);
    return await this.#load(() => files.readFile(this.#owner, fileId)).catch((error: unknown) => {
      throw error instanceof FileStorageAway ? fileStorageAway(error) : error;
    });
  }

  #count(): void {
    this.#loads += 1;
    if (this.#loads > LOADS_MAX) throw tooManyParts(LOADS_MAX);
  }

  async #load<T extends { readonly bytes: Uint8Array } | null>(load: () => Promise<T>): Promise<T> {
    const { requestBytesMax } = this.#options.limits;
    const giveBack = await this.#slots.take(this.signal);
    try {
      const part = await load();
      this.#bytes += part?.bytes.length ?? 0;
      if (this.#bytes > requestBytesMax) throw tooMuchMedia(requestBytesMax);
      return part;
    } finally {
      giveBack();
    }
  }
}
