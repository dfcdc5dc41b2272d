import { LRUCache } from "lru-cache";
import type { QuestionVector } from "../../vector-stores/ports/search.ts";
import { Best } from "./best.ts";
import { chunkKey } from "./chunk-keys.ts";
import { eachProduct, type QuantizedVectors } from "./quantized.ts";

/** The size of a file besides its vectors, in bytes. */
const FILE_BYTES = 256;

/** Vectors of one file by one model. */
export interface FileVectors {
  /** The number of the file. */
  readonly file: number;
  /** The places of the chunks in the file. */
  readonly ordinals: Uint32Array;
  readonly vectors: QuantizedVectors;
}

/** Caches vectors of files in memory and evicts the least recently used. A file's vectors never change. */
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

  add(modelNumber: number, file: FileVectors): void {
    this.#files.set(`${modelNumber} ${file.file}`, file);
  }
}

/** The places of the chunks with these keys in their file. */
export function ordinalsOf(fileNumber: number, keys: readonly number[]): Uint32Array {
  return Uint32Array.from(keys, (key) => key - chunkKey(fileNumber, 0));
}

/** The keys of the chunks nearest to a vector, in no order, by estimated cosines. */
export class NearestChunks {
  readonly #vector: Float32Array;
  readonly #best: Best;

  constructor(vector: Float32Array, max: number) {
    this.#vector = vector;
    this.#best = new Best(max);
  }

  add({ file, ordinals, vectors }: FileVectors): void {
    const base = chunkKey(file, 0);
    eachProduct(vectors, this.#vector, (row, product) => this.#best.add(base + (ordinals[row] ?? 0), product));
  }

  get keys(): readonly number[] {
    return this.#best.keys;
  }
}

/** How near a chunk is to a question. */
export interface Nearness {
  readonly cosine: number;
  /** Orders the chunks of one search. See `ChunkHit.nearness`. */
  readonly nearness: number;
}

/** So many of the nearest chunks stand for the texts around a question. */
const AROUND_MAX = 100;

/**
 * Compares a question with chunks. `nearest`: the keys of those around it. All vectors are of unit length, and of one
 * model.
 */
export function compareChunks(
  { vector, commonShare }: Pick<QuestionVector, "vector" | "commonShare">,
  chunks: ReadonlyMap<number, Float32Array>,
  nearest: readonly number[],
): ReadonlyMap<number, Nearness> {
  const cosines = new Map([...chunks].map(([key, chunk]) => [key, cosineOf(vector, chunk)]));
  const around = nearest
    .toSorted((one, other) => (cosines.get(other) ?? -1) - (cosines.get(one) ?? -1) || one - other)
    .slice(0, AROUND_MAX)
    .flatMap((key) => chunks.get(key) ?? []);
  const middle = new Float32Array(vector.length);
  for (const chunk of around)
    for (let k = 0; k < middle.length; k++)
      middle[k] = (middle[k] ?? 0) + (commonShare * (chunk[k] ?? 0)) / around.length;
  return new Map(
    [...chunks].map(([key, chunk]) => {
      const cosine = cosines.get(key) ?? 0;
      return [key, { cosine, nearness: cosine - cosineOf(middle, chunk) }];
    }),
  );
}

/** The cosine of vectors of unit length. */
function cosineOf(vector: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < vector.length; k++) sum += (vector[k] ?? 0) * (other[k] ?? 0);
  return sum;
}
