import { PowerSpectrum } from "../audio/power-spectrum.ts";

/** 20 ms of sound at 16,000 samples a second. */
export const FRAME_SAMPLES = 320;
export const FRAME_MS = 20;

const SPECTRUM_SIZE = 512;
const BIN_HZ = 16_000 / SPECTRUM_SIZE;
/** What lies below is hum and rumble, and what the window spreads of it; voices have overtones above. */
const LOWEST_BIN = Math.ceil(220 / BIN_HZ);
/** Voices have their shape below. */
const HIGHEST_SHAPED_BIN = Math.floor(6000 / BIN_HZ);

/** White noise has 0.56, whatever its loudness; voices have less than 0.3. */
const FLATNESS_MAX = 0.38;
/** How far a voice stands out of what is around it, in dB. */
const ABOVE_FLOOR_DB = 9;
/** Once it speaks it may be softer. */
const STILL_ABOVE_FLOOR_DB = 6;
/** In dB below full scale: a voice is never softer, so that the noise of converters is none. */
const SOFTEST_VOICE_DB = -56;

/** The floor is the softest moment of this time: speech has such moments. */
const FLOOR_FRAMES = 2500 / FRAME_MS;
const FLOOR_DB_MIN = -68;
/** What the beginning of a sound may be taken for: loud beginnings are speech and no floor. */
const FIRST_FLOOR_DB_MAX = -45;
/** What is louder is kept, however steady it is. */
const FLOOR_DB_MAX = -40;

/**
 * Whether somebody speaks, frame by frame: by loudness over an adaptive floor, and by the shape of the spectrum. No
 * model is needed. When in doubt, somebody does.
 */
export class VoiceActivity {
  readonly #spectrum = new PowerSpectrum(FRAME_SAMPLES, SPECTRUM_SIZE);
  /**
   * The softest levels still to come out of the window, oldest first, each with its frame: a queue whose first is the
   * minimum.
   */
  readonly #softest: { readonly frame: number; readonly levelDb: number }[] = [];
  #frame = 0;
  #smoothDb: number | null = null;
  #speaking = false;

  hears(frame: Int16Array): boolean {
    const power = this.#spectrum.of(frame);
    const levelDb = decibels(power.subarray(LOWEST_BIN).reduce((sum, value) => sum + value, 0));
    const floorDb = this.#follow(levelDb);
    const needDb = Math.max(SOFTEST_VOICE_DB, floorDb + (this.#speaking ? STILL_ABOVE_FLOOR_DB : ABOVE_FLOOR_DB));
    this.#speaking = levelDb > needDb && flatness(power.subarray(LOWEST_BIN, HIGHEST_SHAPED_BIN)) < FLATNESS_MAX;
    return this.#speaking;
  }

  /** The floor after a frame of this level. */
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

/** The geometric mean over the arithmetic one: 1 where all frequencies are alike, near 0 where few hold everything. */
function flatness(power: Float64Array): number {
  let logarithms = 0;
  let sum = 0;
  for (const value of power) {
    logarithms += Math.log(value + 1e-15);
    sum += value + 1e-15;
  }
  return Math.exp(logarithms / power.length) / (sum / power.length);
}
