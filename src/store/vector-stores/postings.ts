/** A word is in a chunk. */
export interface Posting {
  /** The place of the chunk in its file. */
  readonly ordinal: number;
  /** How often the chunk has the word. */
  readonly count: number;
  /** How many words the chunk has. */
  readonly length: number;
}

const BITS = 7;
const MORE = 0x80;

/**
 * Packs postings, which are in the order of their chunks: for each the distance from the chunk before, the count and
 * the length, as integers of 7 bits a byte with the lowest first.
 */
export function packPostings(first: number, postings: readonly Posting[]): Uint8Array {
  const bytes: number[] = [];
  let before = first;
  for (const { ordinal, count, length } of postings) {
    packInteger(bytes, ordinal - before);
    packInteger(bytes, count);
    packInteger(bytes, length);
    before = ordinal;
  }
  return Uint8Array.from(bytes);
}

/** Calls `take` for each posting. It makes no objects, because a search reads tens of thousands. */
export function readPostings(
  first: number,
  bytes: Uint8Array,
  take: (ordinal: number, count: number, length: number) => void,
): void {
  let ordinal = first;
  let position = 0;
  const next = (): number => {
    let value = 0;
    let shift = 0;
    for (;;) {
      const byte = bytes[position++] ?? 0;
      value |= (byte & (MORE - 1)) << shift;
      if (byte < MORE) return value;
      shift += BITS;
    }
  };
  while (position < bytes.length) {
    ordinal += next();
    take(ordinal, next(), next());
  }
}

function packInteger(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= MORE) {
    bytes.push((rest & (MORE - 1)) | MORE);
    rest >>>= BITS;
  }
  bytes.push(rest);
}
