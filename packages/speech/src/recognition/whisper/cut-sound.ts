import { SPEECH_RATE_HZ } from "../speech-engine.ts";

/** A piece is cut in the middle of its quietest stretch of this length. */
const QUIET_SAMPLES = SPEECH_RATE_HZ / 10;
/** The last part of a piece's maximum length, which is searched for that stretch. */
const SEARCHED_SHARE = 1 / 5;
/** At least this much is searched, because a fifth of a small window is hardly longer than a word. */
const SEARCHED_SAMPLES_MIN = 4 * SPEECH_RATE_HZ;
const SEARCHED_SHARE_MAX = 1 / 2;
const STEP_SAMPLES = QUIET_SAMPLES / 4;

/** Cuts sound at quiet places into pieces of at most `samplesMax`. The pieces are views of the sound, not copies. */
export function cutSound(samples: Int16Array, samplesMax: number): Int16Array[] {
  const pieces: Int16Array[] = [];
  const searchLength = Math.max(
    Math.ceil(samplesMax * SEARCHED_SHARE),
    Math.min(SEARCHED_SAMPLES_MIN, Math.floor(samplesMax * SEARCHED_SHARE_MAX)),
  );
  let rest = samples;
  while (rest.length > samplesMax) {
    const end = quietestPlace(rest, samplesMax - searchLength, samplesMax);
    pieces.push(rest.subarray(0, end));
    rest = rest.subarray(end);
  }
  return [...pieces, rest];
}

/** The middle of the quietest stretch between two positions. */
function quietestPlace(samples: Int16Array, from: number, to: number): number {
  let best = to - QUIET_SAMPLES;
  let leastEnergy = Number.POSITIVE_INFINITY;
  for (let start = to - QUIET_SAMPLES; start >= from; start -= STEP_SAMPLES) {
    const energy = samples.subarray(start, start + QUIET_SAMPLES).reduce((sum, sample) => sum + sample * sample, 0);
    if (energy >= leastEnergy) continue;
    leastEnergy = energy;
    best = start;
  }
  return best + QUIET_SAMPLES / 2;
}
