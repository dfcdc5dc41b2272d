import { expect, test } from "vitest";
import { SPEECH_RATE_HZ } from "../speech-engine.ts";
import { cutSound } from "./cut-sound.ts";

/** Loud sound of some seconds, with a fifth of a second of silence at each of the given times. */
function loudBut(seconds: number, ...quietAt: readonly number[]): Int16Array {
  const sound = new Int16Array(seconds * SPEECH_RATE_HZ).fill(9000);
  for (const start of quietAt) sound.fill(0, start * SPEECH_RATE_HZ, (start + 0.2) * SPEECH_RATE_HZ);
  return sound;
}

function secondsOf(pieces: readonly Int16Array[]): number[] {
  return pieces.map(({ length }) => length / SPEECH_RATE_HZ);
}

test.each([
  { what: "a sound that fits is one piece", sound: loudBut(8, 3), max: 8, pieces: [8] },
  {
    what: "a large piece ends at a pause in its last fifth",
    sound: loudBut(30, 20, 25),
    max: 28,
    pieces: [25.1, 4.9],
  },
  { what: "a small piece ends at a pause in its second half", sound: loudBut(12, 3, 5), max: 8, pieces: [5.1, 6.9] },
  {
    what: "a tiny piece ends at a pause in its second half too",
    sound: loudBut(3, 0.5, 1.3),
    max: 2,
    pieces: [1.4, 1.6],
  },
])("$what", ({ sound, max, pieces }) => {
  const cut = secondsOf(cutSound(sound, max * SPEECH_RATE_HZ));
  expect(cut).toHaveLength(pieces.length);
  for (const [index, seconds] of pieces.entries()) expect(cut[index]).toBeCloseTo(seconds, 0);
});

test("no sample is lost if there is no pause", () => {
  const pieces = cutSound(loudBut(20), 8 * SPEECH_RATE_HZ);
  expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(20 * SPEECH_RATE_HZ);
  for (const { length } of pieces) expect(length).toBeLessThanOrEqual(8 * SPEECH_RATE_HZ);
});
