import { ENCODER_WASM } from "./encoder-wasm.ts";
import { BLOCK, BLOCK_BYTES, floatsIn, type Tensor } from "./model-file.ts";
import { ModelUnusable } from "./model-unusable.ts";

const PAGE_BYTES = 64 * 1024;
/** 512 MiB. The source of the module names the same maximum. */
const PAGES_MAX = 8192;
const ALIGNMENT = 16;

type KernelFunction = (...places: readonly number[]) => void;

export interface EncoderKernel {
  readonly multiply: KernelFunction;
  readonly compare: KernelFunction;
  readonly mix: KernelFunction;
}

/** A matrix in the kernel's memory: 8-bit weights, a scale for each block of them, and a bias for each row. */
export interface KernelMatrix {
  readonly weights: number;
  readonly scales: number;
  readonly biases: number;
  readonly width: number;
  readonly rows: number;
}

/** The memory of the kernel, which only grows. Places are offsets in bytes. */
export class EncoderMemory {
  readonly kernel: EncoderKernel;
  readonly #memory = new WebAssembly.Memory({ initial: 1, maximum: PAGES_MAX });
  #end = ALIGNMENT;

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(ENCODER_WASM, "base64"));
    const { exports } = new WebAssembly.Instance(module, { encoder: { memory: this.#memory } });
    const functionOf = (name: string): KernelFunction => {
      const value = exports[name];
      if (typeof value !== "function") throw new RangeError(`the kernel has no ${name}`);
      return (...places) => void value(...places);
    };
    this.kernel = { multiply: functionOf("multiply"), compare: functionOf("compare"), mix: functionOf("mix") };
  }

  reserve(bytes: number): number {
    const place = this.#end;
    this.#end = Math.ceil((place + bytes) / ALIGNMENT) * ALIGNMENT;
    const pages = Math.ceil(this.#end / PAGE_BYTES) - this.#memory.buffer.byteLength / PAGE_BYTES;
    if (this.#end > PAGES_MAX * PAGE_BYTES) throw new ModelUnusable("needs too much memory");
    if (pages > 0) this.#memory.grow(pages);
    return place;
  }

  /** Valid until the next `reserve`. */
  floats(place: number, count: number): Float32Array {
    return new Float32Array(this.#memory.buffer, place, count);
  }

  /** Valid until the next `reserve`. */
  shorts(place: number, count: number): Int16Array {
    return new Int16Array(this.#memory.buffer, place, count);
  }

  /** Unpacks a matrix of 4 bits. */
  addMatrix(packed: Tensor, bias: Tensor, width: number, rows: number): KernelMatrix {
    const blocks = (width / BLOCK) * rows;
    if (packed.type === 0 || packed.bytes.length !== blocks * BLOCK_BYTES || bias.bytes.length !== rows * 4)
      throw new ModelUnusable("has matrices of another size");
    const [weights, scales, biases] = [width * rows, blocks * 4, rows * 4].map((bytes) => this.reserve(bytes));
    const matrix = { weights: weights ?? 0, scales: scales ?? 0, biases: biases ?? 0, width, rows };
    this.floats(matrix.biases, rows).set(floatsIn(bias.bytes));
    const unpacked = new Int8Array(this.#memory.buffer, matrix.weights, width * rows);
    const scaleOf = this.floats(matrix.scales, blocks);
    for (let block = 0; block < blocks; block++) {
      scaleOf[block] = halfFloat(packed.bytes.readUInt16LE(block * BLOCK_BYTES));
      for (let byte = 0; byte < BLOCK / 2; byte++) {
        const pair = packed.bytes[block * BLOCK_BYTES + 2 + byte] ?? 0;
        unpacked[block * BLOCK + byte] = (pair & 15) - 8;
        unpacked[block * BLOCK + byte + BLOCK / 2] = (pair >> 4) - 8;
      }
    }
    return matrix;
  }
}

/** Writes the numbers of a packed row to `row`. */
export function unpackRow(packed: Buffer, index: number, row: Float32Array): void {
  const blocks = row.length / BLOCK;
  for (let block = 0; block < blocks; block++) {
    const start = (index * blocks + block) * BLOCK_BYTES;
    const scale = halfFloat(packed.readUInt16LE(start));
    for (let byte = 0; byte < BLOCK / 2; byte++) {
      const pair = packed[start + 2 + byte] ?? 0;
      row[block * BLOCK + byte] = scale * ((pair & 15) - 8);
      row[block * BLOCK + byte + BLOCK / 2] = scale * ((pair >> 4) - 8);
    }
  }
}

/** A 16-bit float by its bits. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  return exponent === 31 ? sign * Number.POSITIVE_INFINITY : sign * (1 + fraction) * 2 ** (exponent - 15);
}
