/**
 * Decodes G.722 (ITU-T, 64 kbit/s) to 16,000 samples per second. Two bands of 8 kHz are each predicted from the past
 * and corrected by a few bits per sample.
 */
export function decodeG722(bytes: Uint8Array): Int16Array {
  const low = new Band(32);
  const high = new Band(8);
  const history = new Int32Array(24);
  const samples = new Int16Array(bytes.length * 2);
  for (const [index, code] of bytes.entries()) {
    const lowSample = decodeLow(low, code & 63);
    const highSample = decodeHigh(high, code >> 6);
    history.copyWithin(0, 2);
    history[22] = lowSample + highSample;
    history[23] = lowSample - highSample;
    let even = 0;
    let odd = 0;
    for (const [tap, weight] of JOINING_FILTER.entries()) {
      odd += (history[2 * tap] ?? 0) * weight;
      even += (history[23 - 2 * tap] ?? 0) * weight;
    }
    samples[2 * index] = limited(even >> 11, -32_768, 32_767);
    samples[2 * index + 1] = limited(odd >> 11, -32_768, 32_767);
  }
  return samples;
}

const JOINING_FILTER = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11];

/**
 * Differences by code, in units of the step: for the low band with six and with four bits, for the high band with two.
 */
const LOW_6 = [
  -136, -136, -136, -136, -24_808, -21_904, -19_008, -16_704, -14_984, -13_512, -12_280, -11_192, -10_232, -9360, -8576,
  -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
  24_808, 21_904, 19_008, 16_704, 14_984, 13_512, 12_280, 11_192, 10_232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
  4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
];
const LOW_4 = [0, -20_456, -12_896, -8968, -6288, -4240, -2584, -1200, 20_456, 12_896, 8968, 6288, 4240, 2584, 1200, 0];
const HIGH_2 = [-7408, -1616, 7408, 1616];

/** The change of the step's logarithm for each code. */
const LOW_STEPS = [-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60];
const HIGH_STEPS = [798, -214, 798, -214];
const LOW_STEP_MAX = 18_432;
const HIGH_STEP_MAX = 22_528;

/** Powers 2^(i/32), times 2048. */
const POWERS = Array.from({ length: 32 }, (_, index) => Math.floor(2048 * 2 ** (index / 32) + 0.5));

function decodeLow(band: Band, code: number): number {
  const coarse = code >> 2;
  const sample = limited(band.predicted + ((band.step * (LOW_6[code] ?? 0)) >> 15), -16_384, 16_383);
  const difference = (band.step * (LOW_4[coarse] ?? 0)) >> 15;
  band.adaptStep(LOW_STEPS[coarse] ?? 0, LOW_STEP_MAX, 8);
  band.adaptPredictor(difference);
  return sample;
}

function decodeHigh(band: Band, code: number): number {
  const difference = (band.step * (HIGH_2[code] ?? 0)) >> 15;
  const sample = limited(band.predicted + difference, -16_384, 16_383);
  band.adaptStep(HIGH_STEPS[code] ?? 0, HIGH_STEP_MAX, 10);
  band.adaptPredictor(difference);
  return sample;
}

/** A decoder of one band: a step that follows the loudness, and a predictor with two poles and six zeros. */
class Band {
  predicted = 0;
  step: number;
  #logStep = 0;
  #zeroPart = 0;
  /** Latest first. */
  readonly #differences = new Int32Array(7);
  readonly #zeros = new Int32Array(6);
  #poles: readonly [number, number] = [0, 0];
  #rebuilt: readonly [number, number] = [0, 0];
  #partial: readonly [number, number] = [0, 0];

  constructor(step: number) {
    this.step = step;
  }

  adaptStep(change: number, logMax: number, shift: number): void {
    this.#logStep = limited(((this.#logStep * 127) >> 7) + change, 0, logMax);
    const power = POWERS[(this.#logStep >> 6) & 31] ?? 0;
    const places = shift - (this.#logStep >> 11);
    this.step = (places < 0 ? power << -places : power >> places) << 2;
  }

  adaptPredictor(difference: number): void {
    const rebuilt = saturated(this.predicted + difference);
    const partial = saturated(this.#zeroPart + difference);
    this.#adaptPoles(partial);
    this.#adaptZeros(difference);
    this.#rebuilt = [rebuilt, this.#rebuilt[0]];
    this.#partial = [partial, this.#partial[0]];
    const polePart = saturated(
      ((this.#poles[0] * saturated(2 * this.#rebuilt[0])) >> 15) +
        ((this.#poles[1] * saturated(2 * this.#rebuilt[1])) >> 15),
    );
    let zeroPart = 0;
    for (const [index, zero] of this.#zeros.entries())
      zeroPart += (zero * saturated(2 * (this.#differences[index] ?? 0))) >> 15;
    this.#zeroPart = saturated(zeroPart);
    this.predicted = saturated(polePart + this.#zeroPart);
  }

  #adaptPoles(partial: number): void {
    const [first, second] = this.#poles;
    const isLikeLast = sign(partial) === sign(this.#partial[0]);
    const isLikeLastButOne = sign(partial) === sign(this.#partial[1]);
    const pull = Math.min(32_767, isLikeLast ? -saturated(4 * first) : saturated(4 * first));
    const nextSecond = limited(
      (isLikeLastButOne ? 128 : -128) + (pull >> 7) + ((second * 32_512) >> 15),
      -12_288,
      12_288,
    );
    const bound = saturated(15_360 - nextSecond);
    const nextFirst = limited(saturated((isLikeLast ? 192 : -192) + ((first * 32_640) >> 15)), -bound, bound);
    this.#poles = [nextFirst, nextSecond];
  }

  /** Moves each weight up if its difference and the new one have the same sign, otherwise down. */
  #adaptZeros(difference: number): void {
    this.#differences.copyWithin(1, 0);
    this.#differences[0] = difference;
    const pull = difference === 0 ? 0 : 128;
    for (const [index, zero] of this.#zeros.entries()) {
      const isAlike = sign(this.#differences[index + 1] ?? 0) === sign(difference);
      this.#zeros[index] = saturated((isAlike ? pull : -pull) + ((zero * 32_640) >> 15));
    }
  }
}

function sign(value: number): number {
  return value < 0 ? -1 : 0;
}

function saturated(value: number): number {
  return limited(value, -32_768, 32_767);
}

function limited(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
