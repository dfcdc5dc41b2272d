import { PowerSpectrum } from "../audio/power-spectrum.ts";

/** 20 ms of sound at 16,000 samples per second. */
export const FRAME_SAMPLES = 320;
export const FRAME_MS = 20;

const SPECTRUM_SIZE = 512;
const BIN_HZ = 16_000 / SPECTRUM_SIZE;
/** Lower bins hold hum and rumble, and their leakage from the window. Voices have overtones above. */
const LOWEST_BIN = Math.ceil(220 / BIN_HZ);
/** Flatness is measured below this bin, where the spectrum of a voice is uneven. */
const HIGHEST_SHAPED_BIN = Math.floor(6000 / BIN_HZ);

/** White noise has 0.56 at any loudness; voices have less than 0.3. */
const FLATNESS_MAX = 0.38;
/** How far the start of a voice is above the noise floor, in dB. */
const ABOVE_FLOOR_DB = 9;
/** The same for a voice that is already speaking. */
const STILL_ABOVE_FLOOR_DB = 6;
/** In dB relative to full scale. Softer sound is never a voice, which excludes the noise of converters. */
const SOFTEST_VOICE_DB = -56;

/** The floor is the softest level of this window; speech has soft moments too. */
const FLOOR_FRAMES = 2500 / FRAME_MS;
const FLOOR_DB_MIN = -68;
/** Limit of the floor in the first window: a sound that begins louder begins with speech. */
const FIRST_FLOOR_DB_MAX = -45;
/** Limit of the floor later on: louder sound counts as speech even if it is steady. */
const FLOOR_DB_MAX = -40;

/**
 * Detects speech frame by frame, without a model: by loudness above an adaptive noise floor and by the flatness of the
 * spectrum. When in doubt, it reports speech.
 */
export class VoiceActivity {
  readonly #spectrum = new PowerSpectrum(FRAME_SAMPLES, SPECTRUM_SIZE);
  /**
   * A monotonic queue for the minimum of the window: levels rise from the first, which is the minimum, to the latest.
   */
  readonly #softest: { readonly frame: number; readonly levelDb: number }[] = [];
  #frame = 0;
  #smoothDb: number | null = null;
  #speaking = false;
  readonly #extraDb: number;

  /** `extraDb`: how much louder than usual a voice has to be. */
  constructor(extraDb = 0) {
    this.#extraDb = extraDb;
  }

  isVoiced(frame: Int16Array): boolean {
    const power = this.#spectrum.of(frame);
    const levelDb = decibels(power.subarray(LOWEST_BIN).reduce((sum, value) => sum + value, 0));
    const floorDb = this.#follow(levelDb);
    const aboveDb = (this.#speaking ? STILL_ABOVE_FLOOR_DB : ABOVE_FLOOR_DB) + this.#extraDb;
    const needDb = Math.max(SOFTEST_VOICE_DB, floorDb + aboveDb);
    this.#speaking = levelDb > needDb && flatness(power.subarray(LOWEST_BIN, HIGHEST_SHAPED_BIN)) < FLATNESS_MAX;
    return this.#speaking;
  }

  /** Updates the noise floor with the level of a frame and returns it, in dB. */
  #follow(levelDb: number): number {
    this.#smoothDb = this.#smoothDb === null ? levelDb : (this.#smoothDb + levelDb) / 2;
    const current = { frame: this.#frame, levelDb: this.#smoothDb };
    this.#frame += 1;
    while ((this.#softest.at(-1)?.levelDb ?? Number.NEGATIVE_INFINITY) >= current.levelDb) this.#softest.pop();
    this.#softest.push(current);
    while ((this.#softest[0]?.frame ?? current.frame) <= current.frame - FLOOR_FRAMES) this.#softest.shift();
    const floorMax = this.#frame < FLOOR_FRAMES ? FIRST_FLOOR_DB_MAX : FLOOR_DB_MAX;
    return Math.max(FLOOR_DB_MIN, Math.min(floorMax, this.#softest[0]?.levelDb ?? FLOOR_DB_MIN));
  }
}

function decibels(power: number): number {
  return 10 * Math.log10(power + 1e-12);
}

/**
 * Geometric mean divided by arithmetic mean: 1 for equal power at all frequencies, near 0 if few frequencies hold all
 * power.
 */
function flatness(power: Float64Array): number {
  let logarithms = 0;
  let sum = 0;
  for (const value of power) {
    logarithms += Math.log(value + 1e-15);
    sum += value + 1e-15;
  }
  return Math.exp(logarithms / power.length) / (sum / power.length);
}
