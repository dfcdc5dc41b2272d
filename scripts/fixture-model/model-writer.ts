/** The numbers in the header of a whisper.cpp model file, in file order. */
export interface ModelSizes {
  /** Number of tokens: the rows of the token embedding. */
  readonly vocabulary: number;
  /** Encoder positions, 50 per second of sound. */
  readonly audioPositions: number;
  readonly audioState: number;
  readonly audioHeads: number;
  readonly audioLayers: number;
  readonly textPositions: number;
  readonly textState: number;
  readonly textHeads: number;
  readonly textLayers: number;
  readonly melBins: number;
}

/** The type of stored weights. whisper.cpp loads a file with f32 weights but exits at its first convolution. */
export type WeightType = "f16" | "f32";

const MAGIC = 0x67676d6c;
const TYPE_NUMBERS = { f32: 0, f16: 1 } as const satisfies Readonly<Record<WeightType, number>>;
/** Number of frequencies of the engine's Fourier transform: 0 to 8000 Hz in steps of 40 Hz. */
const FREQUENCIES = 201;
const FREQUENCY_STEP_HZ = 40;
const FREQUENCY_MAX_HZ = 8000;

/** Writes a whisper.cpp model file: little endian, without padding between the parts. */
export class ModelWriter {
  readonly #sizes: ModelSizes;
  readonly #weights: WeightType;
  readonly #parts: Uint8Array[] = [];

  constructor(sizes: ModelSizes, weights: WeightType, words: readonly Uint8Array[]) {
    this.#sizes = sizes;
    this.#weights = weights;
    this.#integers(MAGIC, ...Object.values(sizes), TYPE_NUMBERS[weights]);
    this.#integers(sizes.melBins, FREQUENCIES);
    for (const filter of melFilters(sizes.melBins)) this.#floats(filter, "f32");
    this.#integers(words.length);
    for (const word of words) {
      this.#integers(word.length);
      this.#parts.push(word);
    }
  }

  get sizes(): ModelSizes {
    return this.#sizes;
  }

  /** `shape` has the fastest-varying dimension first. */
  tensor(name: string, shape: readonly number[], values: Float32Array, type: WeightType = "f32"): void {
    const count = shape.reduce((product, size) => product * size, 1);
    if (count !== values.length) throw new RangeError(`${name} has ${values.length} values for a shape of ${count}`);
    const nameBytes = Buffer.from(name);
    this.#integers(shape.length, nameBytes.length, TYPE_NUMBERS[type], ...shape);
    this.#parts.push(nameBytes);
    this.#floats(values, type);
  }

  /** Writes a tensor of the file's weight type. */
  weights(name: string, shape: readonly number[], values: Float32Array): void {
    this.tensor(name, shape, values, this.#weights);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #integers(...values: number[]): void {
    this.#parts.push(bytesOf(Int32Array.from(values)));
  }

  #floats(values: Float32Array, type: WeightType): void {
    this.#parts.push(bytesOf(type === "f32" ? values : Float16Array.from(values)));
  }
}

function bytesOf(values: Float16Array | Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Returns the centre of a mel bin in hertz. */
export function melCentreHz(bin: number, bins: number): number {
  return melEdges(bins)[bin + 1] ?? 0;
}

/** Triangular filters of equal area, denser below 1000 Hz: Slaney's mel scale, which Whisper uses. */
function melFilters(bins: number): Float32Array[] {
  const edges = melEdges(bins);
  return Array.from({ length: bins }, (_, bin) => {
    const [low = 0, centre = 0, high = 0] = edges.slice(bin, bin + 3);
    return Float32Array.from({ length: FREQUENCIES }, (__, index) => {
      const hz = index * FREQUENCY_STEP_HZ;
      const height = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      return (2 / (high - low)) * Math.max(0, height);
    });
  });
}

function melEdges(bins: number): number[] {
  const top = melOf(FREQUENCY_MAX_HZ);
  return Array.from({ length: bins + 2 }, (_, index) => hertzOf((top * index) / (bins + 1)));
}

const LINEAR_HZ = 1000;
const HZ_PER_MEL = 200 / 3;
const LINEAR_MELS = LINEAR_HZ / HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

function melOf(hz: number): number {
  return hz < LINEAR_HZ ? hz / HZ_PER_MEL : LINEAR_MELS + Math.log(hz / LINEAR_HZ) / LOG_STEP;
}

function hertzOf(mel: number): number {
  return mel < LINEAR_MELS ? mel * HZ_PER_MEL : LINEAR_HZ * Math.exp(LOG_STEP * (mel - LINEAR_MELS));
}
