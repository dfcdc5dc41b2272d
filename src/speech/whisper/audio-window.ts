import { SPEECH_RATE_HZ } from "../speech-engine.ts";

/** Positions of the encoder in a second of sound. */
const POSITIONS_PER_SECOND = 50;
/** What a fitted window has beyond the sound: models were trained with silence after the speech. */
const POSITIONS_OVER = 64;
/** The shortest that was tried: the spoken-words model hears as well with it as with longer ones. */
const POSITIONS_MIN = 192;
/** Windows of this many positions, and of multiples of it, are computed fastest. */
const POSITIONS_STEP = 64;

/** Shorter sounds are filled up with silence: the engine reads past the end of very short ones. */
const SAMPLES_MIN = SPEECH_RATE_HZ;

/**
 * How many positions the encoder should look at: its cost grows with them, and the usual 30 s cost as much for a word
 * as for a speech.
 */
export function fittedPositions(samples: number, positionsMax: number): number {
  const wanted = (samples / SPEECH_RATE_HZ) * POSITIONS_PER_SECOND + POSITIONS_OVER;
  const whole = Math.ceil(wanted / POSITIONS_STEP) * POSITIONS_STEP;
  return Math.min(positionsMax, Math.max(POSITIONS_MIN, whole));
}

/** The most samples that a window of the model holds, with some room for what it adds. */
export function samplesOfWindow(positionsMax: number): number {
  const seconds = positionsMax / POSITIONS_PER_SECOND;
  return Math.floor(Math.max(seconds / 2, seconds - 2) * SPEECH_RATE_HZ);
}

export function filledUp(samples: Int16Array): Int16Array {
  if (samples.length >= SAMPLES_MIN) return samples;
  const filled = new Int16Array(SAMPLES_MIN);
  filled.set(samples);
  return filled;
}

const LOUD_RMS = 600;

/** Whether somewhere a tenth of a second is as loud as speech: beyond -35 dB of what samples can hold. */
export function isLoud(samples: Int16Array): boolean {
  const length = SPEECH_RATE_HZ / 10;
  for (let start = 0; start < samples.length; start += length) {
    const stretch = samples.subarray(start, start + length);
    const energy = stretch.reduce((sum, sample) => sum + sample * sample, 0) / stretch.length;
    if (energy > LOUD_RMS ** 2) return true;
  }
  return false;
}
