import { assert } from "@antiphon/base/assert.ts";
import { DOT_WASM } from "./dot-wasm.ts";

/** The kernel reads 16 components at a time. */
const LANES = 16;
const STEPS = 127;
/** Rows are copied into the kernel's memory in portions of this many bytes. */
const PORTION_BYTES = 1024 * 1024;

/**
 * Vectors with 8 bits per component: a quarter of the memory, and fast to compare. Precise enough to find candidates.
 */
export interface QuantizedVectors {
  readonly count: number;
  /** Bytes per row: the dimensions, rounded up to a multiple of 16. */
  readonly width: number;
  readonly rows: Int8Array;
  /** The value of one step in each row. */
  readonly scales: Float32Array;
}

/** `vectors`: `count` rows of `dimensions` 32-bit floats. */
export function quantize(vectors: Float32Array, dimensions: number): QuantizedVectors {
  const count = vectors.length / dimensions;
  const width = Math.ceil(dimensions / LANES) * LANES;
  const rows = new Int8Array(count * width);
  const scales = new Float32Array(count);
  for (let row = 0; row < count; row++) {
    const from = vectors.subarray(row * dimensions, (row + 1) * dimensions);
    const scale = largest(from) / STEPS;
    scales[row] = scale;
    if (scale === 0) continue;
    for (let k = 0; k < dimensions; k++) rows[row * width + k] = Math.round((from[k] ?? 0) / scale);
  }
  return { count, width, rows, scales };
}

function largest(vector: Float32Array): number {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  return most;
}

interface Kernel {
  readonly memory: Uint8Array;
  /** Takes the start of the rows, their number and width, the start of the query, and the place of the products. */
  readonly dots: (...places: readonly [rows: number, count: number, width: number, query: number, out: number]) => void;
}

let kernel: Kernel | null = null;

function loadKernel(): Kernel {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(DOT_WASM, "base64")));
  const { memory, dots } = exports;
  assert(
    memory instanceof WebAssembly.Memory && typeof dots === "function",
    "the kernel exports what it computes with",
  );
  return {
    memory: new Uint8Array(memory.buffer),
    dots: (...places) => void Reflect.apply(dots, null, places),
  };
}

/** Calls `take` with the estimated dot product of each row with the query, which has 32-bit floats. */
export function eachProduct(
  vectors: QuantizedVectors,
  query: Float32Array,
  take: (row: number, product: number) => void,
): void {
  const { memory, dots } = (kernel ??= loadKernel());
  const { count, width, rows, scales } = vectors;
  const scale = largest(query) / STEPS;
  if (scale === 0 || count === 0) return;
  const stepsOfQuery = new Int16Array(width);
  for (let k = 0; k < query.length; k++) stepsOfQuery[k] = Math.round((query[k] ?? 0) / scale);
  const queryAt = PORTION_BYTES;
  memory.set(new Uint8Array(stepsOfQuery.buffer), queryAt);
  // Products follow the rows of their portion, so a portion leaves room for them.
  const rowsAtOnce = Math.floor(PORTION_BYTES / (width + Int32Array.BYTES_PER_ELEMENT));
  const outAt = rowsAtOnce * width;
  const out = new Int32Array(memory.buffer, outAt, rowsAtOnce);
  for (let first = 0; first < count; first += rowsAtOnce) {
    const portion = Math.min(rowsAtOnce, count - first);
    memory.set(new Uint8Array(rows.buffer, rows.byteOffset + first * width, portion * width), 0);
    dots(0, portion, width, queryAt, outAt);
    for (let row = 0; row < portion; row++) take(first + row, (out[row] ?? 0) * scale * (scales[first + row] ?? 0));
  }
}
