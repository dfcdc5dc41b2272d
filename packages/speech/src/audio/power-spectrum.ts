/** Computes the power spectrum of short sounds of `length` samples. `size` is a power of two, at least `length`. */
export class PowerSpectrum {
  readonly #size: number;
  readonly #window: Float64Array;
  readonly #windowPower: number;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #order: Uint32Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;

  constructor(length: number, size: number) {
    this.#size = size;
    this.#window = Float64Array.from({ length }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / length));
    this.#windowPower = this.#window.reduce((sum, weight) => sum + weight * weight, 0);
    this.#cosines = Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size));
    this.#sines = Float64Array.from({ length: size / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / size));
    this.#order = bitReversed(size);
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
  }

  /**
   * The power at `size` / 2 equally spaced frequencies from 0 to half the sample rate. Their sum is the mean square of
   * the samples, scaled to -1 to 1.
   */
  of(samples: Int16Array): Float64Array {
    this.#real.fill(0);
    this.#imaginary.fill(0);
    for (let n = 0; n < this.#window.length; n += 1)
      this.#real[this.#order[n] ?? 0] = ((samples[n] ?? 0) / 32_768) * (this.#window[n] ?? 0);
    this.#transform();
    const real = this.#real;
    const imaginary = this.#imaginary;
    const scale = 2 / (this.#size * this.#windowPower);
    const power = new Float64Array(this.#size / 2);
    for (let k = 0; k < power.length; k += 1) power[k] = ((real[k] ?? 0) ** 2 + (imaginary[k] ?? 0) ** 2) * scale;
    return power;
  }

  /**
   * The Cooley-Tukey FFT, in place, on input in bit-reversed order. One loop without calls, because it runs fifty times
   * per second of sound.
   */
  #transform(): void {
    const real = this.#real;
    const imaginary = this.#imaginary;
    const cosines = this.#cosines;
    const sines = this.#sines;
    const size = this.#size;
    for (let half = 1; half < size; half *= 2) {
      const step = size / (2 * half);
      for (let pair = 0; pair < size / 2; pair += 1) {
        const k = pair % half;
        const a = (pair - k) * 2 + k;
        const b = a + half;
        const turn = k * step;
        const cosine = cosines[turn] ?? 0;
        const sine = sines[turn] ?? 0;
        const turnedReal = (real[b] ?? 0) * cosine - (imaginary[b] ?? 0) * sine;
        const turnedImaginary = (real[b] ?? 0) * sine + (imaginary[b] ?? 0) * cosine;
        real[b] = (real[a] ?? 0) - turnedReal;
        imaginary[b] = (imaginary[a] ?? 0) - turnedImaginary;
        real[a] = (real[a] ?? 0) + turnedReal;
        imaginary[a] = (imaginary[a] ?? 0) + turnedImaginary;
      }
    }
  }
}

function bitReversed(size: number): Uint32Array {
  const bits = Math.log2(size);
  return Uint32Array.from({ length: size }, (_, index) => {
    let result = 0;
    for (let bit = 0; bit < bits; bit += 1) if ((index & (1 << bit)) !== 0) result |= 1 << (bits - 1 - bit);
    return result;
  });
}
