import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { wavHeader } from "@antiphon/speech/audio/wav.ts";
import { TONE_HZ } from "./timed-model.ts";

export const RATE_HZ = 16_000;
export const BYTES_PER_MS = (RATE_HZ * 2) / 1000;

/** Synthetic speech: words of 300 ms with gaps of 100 ms, and pauses of 800 ms between utterances. */
const WORD_MS = 300;
const GAP_MS = 100;
const PAUSE_MS = 800;
const UTTERANCE_MS = 4200;
const AMPLITUDE = 6000;

/** Sound of this length. Its last utterance is complete and ends with the sound. */
export function spokenSound(seconds: number): Int16Array {
  const samples = new Int16Array(seconds * RATE_HZ);
  const period = UTTERANCE_MS + PAUSE_MS;
  const shift = period - ((seconds * 1000 - UTTERANCE_MS) % period);
  for (let index = 0; index < samples.length; index += 1) {
    const inPeriod = ((index * 1000) / RATE_HZ + shift) % period;
    if (inPeriod < UTTERANCE_MS && inPeriod % (WORD_MS + GAP_MS) < WORD_MS)
      samples[index] = Math.round(AMPLITUDE * Math.sin((2 * Math.PI * TONE_HZ * index) / RATE_HZ));
  }
  return samples;
}

/** The last utterance of each longer sound. */
export function lastUtterance(): Int16Array {
  return spokenSound(UTTERANCE_MS / 1000);
}

export const LAST_UTTERANCE_SECONDS = UTTERANCE_MS / 1000;

export function wavOf(samples: Int16Array): Uint8Array {
  const bytes = pcmBytes(samples);
  return Buffer.concat([wavHeader(RATE_HZ, bytes.length), bytes]);
}
