import { endianness } from "node:os";

/** One stored array of a model. Scalars have no sizes. */
export interface StoredTensor {
  /** The slowest-varying size first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** CTranslate2's numbers of the types that we read; others, such as settings of one byte, are skipped. */
const FLOAT_32 = 0;
const INT_16 = 2;
const FLOAT_16 = 4;

/** The binary versions whose layout is read here. */
const VERSION_MIN = 4;
const VERSION_MAX = 6;

/**
 * The arrays of a `model.bin` of CTranslate2, by name. The file is little endian: version, name and revision of the
 * architecture, then each array with its name, sizes, type and bytes. Aliases at the end are not needed.
 */
export function readCTranslate2(bytes: Uint8Array): ReadonlyMap<string, StoredTensor> {
  if (endianness() !== "LE") throw new Error("Models can be read on little-endian machines only");
  const reader = new Reader(bytes);
  const version = reader.uint32();
  if (version < VERSION_MIN || version > VERSION_MAX)
    throw new Error(`The model has the binary version ${version}; ${VERSION_MIN} to ${VERSION_MAX} can be read`);
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
  // Arrays in the file begin anywhere, typed arrays at multiples of their size.
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

  /** Names are stored with their length, which counts a zero at the end. */
  name(): string {
    const length = Buffer.from(this.take(2)).readUInt16LE();
    return Buffer.from(this.take(length)).toString("utf8").replace(/\0$/, "");
  }
}
