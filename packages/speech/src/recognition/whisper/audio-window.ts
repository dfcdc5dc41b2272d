import { SPEECH_RATE_HZ } from "../speech-engine.ts";

/** Positions of the encoder in a second of sound. */
const POSITIONS_PER_SECOND = 50;
/** Extra positions of a fitted window: models were trained with silence after the speech. */
const POSITIONS_OVER = 64;
/** The shortest window that was tested: the demo model is as accurate with it as with longer ones. */
const POSITIONS_MIN = 192;
/** Windows of a multiple of this many positions are computed fastest. */
const POSITIONS_STEP = 64;

/** Shorter sounds are padded with silence, because the engine reads past the end of very short ones. */
const SAMPLES_MIN = SPEECH_RATE_HZ;

/**
 * How many positions the encoder should compute. Its cost grows with them, and the usual window of 30 s costs as much
 * for one word as for a speech.
 */
export function fittedPositions(samples: number, positionsMax: number): number {
  const positionCount = (samples / SPEECH_RATE_HZ) * POSITIONS_PER_SECOND + POSITIONS_OVER;
  const whole = Math.ceil(positionCount / POSITIONS_STEP) * POSITIONS_STEP;
  return Math.min(positionsMax, Math.max(POSITIONS_MIN, whole));
}

/** The most samples to put into one window of the model, leaving up to two seconds of silence at its end. */
export function samplesOfWindow(positionsMax: number): number {
  const seconds = positionsMax / POSITIONS_PER_SECOND;
  return Math.floor(Math.max(seconds / 2, seconds - 2) * SPEECH_RATE_HZ);
}

export function padSamples(samples: Int16Array): Int16Array {
  if (samples.length >= SAMPLES_MIN) return samples;
  const result = new Int16Array(SAMPLES_MIN);
  result.set(samples);
  return result;
}

const LOUD_RMS = 600;

/** Whether any tenth of a second is as loud as speech: above -35 dB of full scale. */
export function isLoud(samples: Int16Array): boolean {
  const length = SPEECH_RATE_HZ / 10;
  for (let start = 0; start < samples.length; start += length) {
    const stretch = samples.subarray(start, start + length);
    const energy = stretch.reduce((sum, sample) => sum + sample * sample, 0) / stretch.length;
    if (energy > LOUD_RMS ** 2) return true;
  }
  return false;
}
