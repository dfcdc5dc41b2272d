import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { ReadingEnded } from "./office-outcome.ts";

/** Limit of the files of one archive. */
const ENTRIES_MAX = 10_000;
/** Limit of the unpacked bytes of one archive, because a small archive can expand to any size. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** The zip archive of an Office document. Its files are unpacked one at a time and within limits. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #unpackedBytes = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Reads the directory of the archive without unpacking files. */
  static async open(bytes: Uint8Array): Promise<Archive> {
    const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
      lazyEntries: true,
      autoClose: false,
    });
    if (zip.entryCount > ENTRIES_MAX) throw new ReadingEnded("too_costly");
    const entries = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
    return new Archive(zip, entries);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Yields the text of a file while it is unpacked. Yields nothing if the file does not exist. */
  async *textOf(name: string): AsyncGenerator<string> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (entry.uncompressedSize > UNPACKED_BYTES_MAX - this.#unpackedBytes) throw new ReadingEnded("too_costly");
    const decoder = new TextDecoder();
    for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
      if (!(chunk instanceof Uint8Array)) continue;
      this.#unpackedBytes += chunk.length;
      // The size in the directory may be wrong.
      if (this.#unpackedBytes > UNPACKED_BYTES_MAX) throw new ReadingEnded("too_costly");
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  }
}
