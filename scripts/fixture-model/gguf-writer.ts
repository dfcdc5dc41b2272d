const VERSION = 3;
const ALIGNMENT = 32;

/** Types of values in a GGUF file. Source: the specification of the format. */
const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const BOOLEAN = 7;
const STRING = 8;
const ARRAY = 9;

/** The type of a tensor of 32-bit floats. */
const F32 = 0;

/** Writes a model file in the format GGUF, with tensors of 32-bit floats. */
export class GgufWriter {
  readonly #values: Buffer[] = [];
  readonly #tensors: { readonly name: string; readonly shape: readonly number[]; readonly data: Buffer }[] = [];

  text(key: string, value: string): void {
    this.#add(key, STRING, stringBytes(value));
  }

  number(key: string, value: number): void {
    this.#add(key, UINT32, uint32(value));
  }

  fraction(key: string, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.#add(key, FLOAT32, bytes);
  }

  flag(key: string, value: boolean): void {
    this.#add(key, BOOLEAN, Buffer.from([value ? 1 : 0]));
  }

  texts(key: string, values: readonly string[]): void {
    this.#add(key, ARRAY, Buffer.concat([uint32(STRING), uint64(values.length), ...values.map(stringBytes)]));
  }

  numbers(key: string, values: readonly number[]): void {
    this.#add(key, ARRAY, Buffer.concat([uint32(INT32), uint64(values.length), ...values.map(uint32)]));
  }

  /** `shape` begins with the length of a row. */
  tensor(name: string, shape: readonly number[], data: Float32Array): void {
    this.#tensors.push({ name, shape, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength) });
  }

  bytes(): Buffer {
    const infos: Buffer[] = [];
    const data: Buffer[] = [];
    let offset = 0;
    for (const { name, shape, data: bytes } of this.#tensors) {
      const place = [uint32(shape.length), ...shape.map(uint64), uint32(F32), uint64(offset)];
      infos.push(stringBytes(name), ...place);
      data.push(bytes, padding(bytes.length));
      offset += bytes.length + padding(bytes.length).length;
    }
    const counts = [uint32(VERSION), uint64(this.#tensors.length), uint64(this.#values.length)];
    const head = Buffer.concat([Buffer.from("GGUF"), ...counts, ...this.#values, ...infos]);
    return Buffer.concat([head, padding(head.length), ...data]);
  }

  #add(key: string, type: number, value: Buffer): void {
    this.#values.push(Buffer.concat([stringBytes(key), uint32(type), value]));
  }
}

function stringBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function padding(length: number): Buffer {
  return Buffer.alloc((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);
}
