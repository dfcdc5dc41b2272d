/** Zero crossings of the kernel on each side. More make the filter sharper and slower. */
const CROSSINGS = 16;
/** Entries of the kernel's table between two crossings; values in between are interpolated. */
const TABLE_STEPS = 512;
/** Shape of the Kaiser window, for a stopband of about -80 dB. */
const KAISER_BETA = 8;
/** Where the filter begins to fall, as a fraction of the lower rate's bandwidth. */
const ROLL_OFF = 0.93;

/**
 * Limit of the positions between two input samples. Rates that need more use the nearest position; for voices the error
 * is below 16-bit resolution.
 */
const PHASES_MAX = 4096;

const KERNEL = windowedSinc();

/**
 * Changes the sample rate of one continuous sound that arrives in pieces, with a windowed sinc. Works for any two
 * rates. The output lasts as long as the input, to the nearest sample.
 */
export class Resampler {
  readonly #fromHz: number;
  readonly #toHz: number;
  /** The cutoff, relative to the bandwidth of the input. */
  readonly #scale: number;
  /** How many input samples the kernel covers on each side. */
  readonly #reach: number;
  /** Input from sample number `#heldFrom` on; negative numbers are the silence before the sound. */
  #buffer: Float32Array;
  #heldFrom: number;
  /** How many positions between two input samples an output sample can have. */
  readonly #phases: number;
  readonly #weights: Float32Array[] = [];
  #inputCount = 0;
  #outputCount = 0;

  constructor(fromHz: number, toHz: number) {
    this.#fromHz = fromHz;
    this.#toHz = toHz;
    this.#phases = Math.min(PHASES_MAX, toHz / greatestCommonDivisor(fromHz, toHz));
    this.#scale = Math.min(1, toHz / fromHz) * ROLL_OFF;
    this.#reach = Math.ceil(CROSSINGS / this.#scale);
    this.#buffer = new Float32Array(this.#reach);
    this.#heldFrom = -this.#reach;
  }

  push(samples: Int16Array): Int16Array {
    if (this.#fromHz === this.#toHz) return samples;
    this.#inputCount += samples.length;
    this.#hold(samples);
    const ready = Math.ceil(((this.#inputCount - this.#reach) * this.#toHz) / this.#fromHz);
    return this.#produce(ready);
  }

  /** Ends the sound and returns the remaining output. */
  end(): Int16Array {
    if (this.#fromHz === this.#toHz) return new Int16Array(0);
    this.#hold(new Int16Array(this.#reach + 1));
    return this.#produce(Math.round((this.#inputCount * this.#toHz) / this.#fromHz));
  }

  #hold(samples: Int16Array): void {
    const next = (this.#outputCount * this.#fromHz) / this.#toHz;
    const excess = Math.min(this.#buffer.length, Math.max(0, Math.floor(next) - this.#reach - this.#heldFrom));
    const buffer = new Float32Array(this.#buffer.length - excess + samples.length);
    buffer.set(this.#buffer.subarray(excess));
    buffer.set(samples, this.#buffer.length - excess);
    this.#buffer = buffer;
    this.#heldFrom += excess;
  }

  /** The output before sample number `until` that was not returned yet. */
  #produce(until: number): Int16Array {
    const output = new Int16Array(Math.max(0, until - this.#outputCount));
    for (const index of output.keys()) {
      const value = this.#valueAt(((this.#outputCount + index) * this.#fromHz) / this.#toHz);
      output[index] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
    }
    this.#outputCount += output.length;
    return output;
  }

  /** Interpolates the input at a time, measured in input samples. */
  #valueAt(time: number): number {
    const before = Math.floor(time);
    const weights = this.#weightsFor(Math.round((time - before) * this.#phases));
    const first = before - this.#reach - this.#heldFrom;
    const buffer = this.#buffer;
    let sum = 0;
    for (let tap = 0; tap < weights.length; tap += 1) sum += (weights[tap] ?? 0) * (buffer[first + tap] ?? 0);
    return sum;
  }

  /**
   * The weights of the samples within reach, at a time `phase` steps after a sample. They are cached, because phases
   * recur.
   */
  #weightsFor(phase: number): Float32Array {
    const earlier = this.#weights[phase];
    if (earlier !== undefined) return earlier;
    const weights = Float32Array.from({ length: 2 * this.#reach + 2 }, (_, tap) => {
      const distance = Math.abs(phase / this.#phases + this.#reach - tap);
      return kernelAt(distance * this.#scale) * this.#scale;
    });
    this.#weights[phase] = weights;
    return weights;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function kernelAt(crossings: number): number {
  const place = crossings * TABLE_STEPS;
  const index = Math.floor(place);
  const here = KERNEL[index] ?? 0;
  return here + ((KERNEL[index + 1] ?? 0) - here) * (place - index);
}

function windowedSinc(): Float64Array {
  const table = new Float64Array(CROSSINGS * TABLE_STEPS + 1);
  for (const index of table.keys()) {
    const x = index / TABLE_STEPS;
    const sinc = index === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    const edge = Math.sqrt(Math.max(0, 1 - (x / CROSSINGS) ** 2));
    table[index] = (sinc * bessel(KAISER_BETA * edge)) / bessel(KAISER_BETA);
  }
  return table;
}

/** The modified Bessel function of the first kind and order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let n = 1; term > sum * 1e-12; n += 1) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}
