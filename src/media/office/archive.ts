import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { ReadingEnded } from "./office-outcome.ts";

/** Files of one archive. */
const ENTRIES_MAX = 10_000;
/** All that is unpacked of one archive: a small archive can hold any amount of blanks. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** The files of an Office document, unpacked one at a time and only as far as the limits go. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #unpackedBytes = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Reads the directory; unpacks nothing. */
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

  /** The text of a file, as it is unpacked. Nothing where there is no such file. */
  async *textOf(name: string): AsyncGenerator<string> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (entry.uncompressedSize > UNPACKED_BYTES_MAX - this.#unpackedBytes) throw new ReadingEnded("too_costly");
    const decoder = new TextDecoder();
    for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
      if (!(chunk instanceof Uint8Array)) continue;
      this.#unpackedBytes += chunk.length;
      // The directory may have lied.
      if (this.#unpackedBytes > UNPACKED_BYTES_MAX) throw new ReadingEnded("too_costly");
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  }
}
