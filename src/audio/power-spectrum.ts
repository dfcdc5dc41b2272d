/** Computes how the power of a short sound is spread over frequencies. `size` is a power of two and no less than the length of a sound. */
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

  /** The power of each frequency from 0 to half the rate, in `size` / 2 equal steps; all together they are the mean square of samples from -1 to 1. */
  of(samples: Int16Array): Float64Array {
    this.#real.fill(0);
    this.#imaginary.fill(0);
    for (let n = 0; n < this.#window.length; n += 1)
      this.#real[this.#order[n] ?? 0] = ((samples[n] ?? 0) / 32_768) * (this.#window[n] ?? 0);
    this.#transform();
    const scale = 2 / (this.#size * this.#windowPower);
    return Float64Array.from({ length: this.#size / 2 }, (_, k) => {
      const [real, imaginary] = [this.#real[k] ?? 0, this.#imaginary[k] ?? 0];
      return (real * real + imaginary * imaginary) * scale;
    });
  }

  /** Cooley and Tukey's, in place; the input lies in bit-reversed order. */
  #transform(): void {
    for (let half = 1; half < this.#size; half *= 2)
      for (let start = 0; start < this.#size; start += 2 * half)
        for (let k = 0; k < half; k += 1) this.#butterfly(start + k, half, (k * this.#size) / (2 * half));
  }

  #butterfly(index: number, half: number, turn: number): void {
    const [real, imaginary] = [this.#real, this.#imaginary];
    const [cosine, sine] = [this.#cosines[turn] ?? 0, this.#sines[turn] ?? 0];
    const [bReal, bImaginary] = [real[index + half] ?? 0, imaginary[index + half] ?? 0];
    const turnedReal = bReal * cosine - bImaginary * sine;
    const turnedImaginary = bReal * sine + bImaginary * cosine;
    const [aReal, aImaginary] = [real[index] ?? 0, imaginary[index] ?? 0];
    real[index] = aReal + turnedReal;
    imaginary[index] = aImaginary + turnedImaginary;
    real[index + half] = aReal - turnedReal;
    imaginary[index + half] = aImaginary - turnedImaginary;
  }
}

function bitReversed(size: number): Uint32Array {
  const bits = Math.log2(size);
  return Uint32Array.from({ length: size }, (_, index) => {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit += 1) if ((index & (1 << bit)) !== 0) reversed |= 1 << (bits - 1 - bit);
    return reversed;
  });
}
