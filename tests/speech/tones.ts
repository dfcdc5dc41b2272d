import { type ToneWord, toneHz } from "../../scripts/fixture-model/tone-words.ts";

const RATE_HZ = 16_000;
const TONE_MS = 300;
const GAP_MS = 300;
const AMPLITUDE = 6000;

/** What the tone model transcribes as these words: 300 ms of tone for each, followed by 300 ms of silence. */
export function tones(...words: readonly ToneWord[]): Int16Array {
  return sound(...words.flatMap((word) => [word, GAP_MS]));
}

/** Words as tones, and numbers as milliseconds of silence. */
export function sound(...parts: readonly (ToneWord | number)[]): Int16Array {
  const pieces = parts.map((part) => (typeof part === "number" ? new Int16Array(samplesIn(part)) : tone(part)));
  return Int16Array.from(pieces.flatMap((piece) => [...piece]));
}

function tone(word: ToneWord): Int16Array {
  const step = (2 * Math.PI * toneHz(word)) / RATE_HZ;
  return Int16Array.from({ length: samplesIn(TONE_MS) }, (_, index) => Math.round(AMPLITUDE * Math.sin(step * index)));
}

function samplesIn(milliseconds: number): number {
  return Math.round((milliseconds * RATE_HZ) / 1000);
}
