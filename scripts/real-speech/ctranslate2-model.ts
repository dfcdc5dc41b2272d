import { endianness } from "node:os";

/** An array of a model. The shape of a scalar is empty. */
export interface StoredTensor {
  /** Sizes, slowest-varying first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** CTranslate2's numbers of the types that we read. Arrays of other types, such as one-byte settings, are skipped. */
const FLOAT_32 = 0;
const INT_16 = 2;
const FLOAT_16 = 4;

/** The binary versions with this layout. */
const VERSION_MIN = 4;
const VERSION_MAX = 6;

/**
 * Reads the arrays of a CTranslate2 `model.bin`, by name. The file is little endian: version, name and revision of the
 * architecture, then each array with its name, sizes, type and bytes. The aliases at the end are ignored.
 */
export function readCTranslate2(bytes: Uint8Array): ReadonlyMap<string, StoredTensor> {
  if (endianness() !== "LE") throw new Error("Models can only be read on little-endian machines");
  const reader = new Reader(bytes);
  const version = reader.uint32();
  if (version < VERSION_MIN || version > VERSION_MAX)
    throw new Error(`The model has binary version ${version}; versions ${VERSION_MIN} to ${VERSION_MAX} are supported`);
  const architecture = reader.name();
  if (architecture !== "WhisperSpec") throw new Error(`The model is a ${architecture}, not a Whisper model`);
  reader.uint32(); // The revision of the architecture.
  const tensors = new Map<string, StoredTensor>();
  const count = reader.uint32();
  for (let index = 0; index < count; index += 1) {
    const name = reader.name();
    const shape = Array.from({ length: reader.uint8() }, () => reader.uint32());
    const type = reader.uint8();
    const values = numbers(reader.take(reader.uint32()), type);
    if (values !== null) tensors.set(name, { shape, values });
  }
  return tensors;
}

function numbers(stored: Uint8Array, type: number): Float32Array | null {
  // A copy, because typed arrays must be aligned and the file's arrays are not.
  const { buffer } = Uint8Array.from(stored);
  if (type === FLOAT_32) return new Float32Array(buffer);
  if (type === INT_16) return Float32Array.from(new Int16Array(buffer));
  if (type === FLOAT_16) return Float32Array.from(new Float16Array(buffer));
  return null;
}

class Reader {
  readonly #bytes: Buffer;
  #place = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  take(length: number): Uint8Array {
    const end = this.#place + length;
    if (end > this.#bytes.length) throw new Error("The model file is cut off");
    const taken = this.#bytes.subarray(this.#place, end);
    this.#place = end;
    return taken;
  }

  uint8(): number {
    return this.take(1)[0] ?? 0;
  }

  uint32(): number {
    return Buffer.from(this.take(4)).readUInt32LE();
  }

  /** Reads a name. Its stored length includes a zero byte at the end. */
  name(): string {
    const length = Buffer.from(this.take(2)).readUInt16LE();
    return Buffer.from(this.take(length)).toString("utf8").replace(/\0$/, "");
  }
}
