import { createHash } from "node:crypto";

/** Bytes sent in one call. */
export interface UploadPart {
  readonly bytes: Buffer;
  /** The hash of these bytes, in hexadecimal digits. */
  readonly sha256: string;
}

/** A part of a file. */
export interface FilePart extends UploadPart {
  readonly isLast: boolean;
}

export function uploadPart(bytes: Buffer): UploadPart {
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/**
 * Parts of equal size; the last may be smaller, and is the only one of an empty file. One part is in memory at a time.
 */
export async function* splitIntoParts(content: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<FilePart> {
  let part = new GrowingPart();
  for await (const piece of content) {
    for (let rest = piece; rest.length > 0; ) {
      if (part.size === partBytes) {
        yield { ...part.take(), isLast: false };
        part = new GrowingPart();
      }
      const room = partBytes - part.size;
      part.add(rest.subarray(0, room));
      rest = rest.subarray(room);
    }
  }
  yield { ...part.take(), isLast: true };
}

/** Hashes each piece as it arrives, so that no single step takes long. */
class GrowingPart {
  readonly #pieces: Uint8Array[] = [];
  readonly #hash = createHash("sha256");
  size = 0;

  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#hash.update(piece);
    this.size += piece.length;
  }

  take(): UploadPart {
    return { bytes: Buffer.concat(this.#pieces.splice(0)), sha256: this.#hash.digest("hex") };
  }
}
