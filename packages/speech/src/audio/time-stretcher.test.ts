import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { joinSamples } from "./pcm.ts";
import { TimeStretcher } from "./time-stretcher.ts";

const RATE_HZ = 24_000;
const TONE_HZ = 220;

function tone(seconds: number): Int16Array {
  const step = (2 * Math.PI * TONE_HZ) / RATE_HZ;
  return Int16Array.from({ length: seconds * RATE_HZ }, (_, index) => Math.round(8000 * Math.sin(step * index)));
}

/** How often the wave rises through zero in a second. */
function pitchHz(samples: Int16Array): number {
  const rises = samples.filter((sample, index) => sample >= 0 && (samples[index - 1] ?? 0) < 0).length;
  return (rises * RATE_HZ) / samples.length;
}

test.each([0.25, 0.5, 0.8, 1, 1.5, 2, 4])("at speed %d a tone lasts accordingly and keeps its pitch", (speed) => {
  verifies("audio.speech.speed");
  const stretcher = new TimeStretcher(speed, RATE_HZ);
  const sound = tone(4);
  const pieces: Int16Array[] = [];
  for (let start = 0; start < sound.length; start += 1000)
    pieces.push(stretcher.push(sound.subarray(start, start + 1000)));
  pieces.push(stretcher.end());
  const stretched = joinSamples(pieces);
  const seconds = stretched.length / RATE_HZ;
  expect(Math.abs(seconds - 4 / speed)).toBeLessThan(0.05 + 0.05 / speed);
  const middle = stretched.subarray(RATE_HZ * 0.1, stretched.length - RATE_HZ * 0.3);
  expect(Math.abs(pitchHz(middle) - TONE_HZ)).toBeLessThan(8);
});

test("without a change of speed samples pass as they are", () => {
  verifies("audio.speech.speed");
  const stretcher = new TimeStretcher(1, RATE_HZ);
  const sound = tone(0.1);
  expect([...stretcher.push(sound), ...stretcher.end()].slice(0, sound.length)).toEqual([...sound]);
});
