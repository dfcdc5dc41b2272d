import { LRUCache } from "lru-cache";
import { chunkKey } from "../chunk-keys.ts";
import { Best } from "./best.ts";
import { eachProduct, type QuantizedVectors, quantize } from "./quantized.ts";

/** What a file costs besides its vectors, in bytes. */
const FILE_BYTES = 256;

/** Vectors of one file by one model. `ordinals`: the places of their chunks. */
interface FileVectors {
  readonly ordinals: Uint32Array;
  readonly vectors: QuantizedVectors;
}

export interface VectorRow {
  readonly key: number;
  readonly vector: Uint8Array;
}

/** Keeps vectors of files in memory, the least recently used first out. A file's vectors never change. */
export class VectorCache {
  readonly #files: LRUCache<string, FileVectors>;

  constructor(bytesMax: number) {
    this.#files = new LRUCache({
      maxSize: Math.max(1, bytesMax),
      sizeCalculation: ({ ordinals, vectors }) =>
        FILE_BYTES + ordinals.byteLength + vectors.rows.byteLength + vectors.scales.byteLength,
    });
  }

  get(modelNumber: number, fileNumber: number): FileVectors | undefined {
    return this.#files.get(`${modelNumber} ${fileNumber}`);
  }

  /** `rows` in the order of their keys. */
  add(modelNumber: number, fileNumber: number, dimensions: number, rows: readonly VectorRow[]): FileVectors {
    const all = new Float32Array(rows.length * dimensions);
    for (const [index, { vector }] of rows.entries())
      all.set(floatsOf(vector).subarray(0, dimensions), index * dimensions);
    const ordinals = Uint32Array.from(rows, ({ key }) => key - chunkKey(fileNumber, 0));
    const made = { ordinals, vectors: quantize(all, dimensions) };
    this.#files.set(`${modelNumber} ${fileNumber}`, made);
    return made;
  }
}

/** The keys of the chunks nearest to a vector, in no order, by estimated cosines. */
export class NearestChunks {
  readonly #vector: Float32Array;
  readonly #best: Best;

  constructor(vector: Float32Array, max: number) {
    this.#vector = vector;
    this.#best = new Best(max);
  }

  add(fileNumber: number, { ordinals, vectors }: FileVectors): void {
    const base = chunkKey(fileNumber, 0);
    eachProduct(vectors, this.#vector, (row, product) => this.#best.add(base + (ordinals[row] ?? 0), product));
  }

  get keys(): readonly number[] {
    return this.#best.keys;
  }
}

/** The cosine of vectors of unit length. `stored`: 32-bit floats as they lie in the database. */
export function cosineOf(vector: Float32Array, stored: Uint8Array): number {
  const other = floatsOf(stored);
  let sum = 0;
  for (let k = 0; k < vector.length; k++) sum += (vector[k] ?? 0) * (other[k] ?? 0);
  return sum;
}

/** A copy if the bytes do not lie as floats must. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
