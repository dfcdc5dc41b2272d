import { expect, test } from "vitest";
import { fittedPositions, isLoud, padSamples, samplesOfWindow } from "./audio-window.ts";
import { cutSound } from "./cut-sound.ts";

test.each([
  { seconds: 0.1, positions: 192 },
  { seconds: 2, positions: 192 },
  { seconds: 5, positions: 320 },
  { seconds: 15, positions: 832 },
  { seconds: 30, positions: 1500 },
])("$seconds s of sound need $positions positions", ({ seconds, positions }) => {
  expect(fittedPositions(seconds * 16_000, 1500)).toBe(positions);
});

test("positions are limited to those of the model", () => {
  expect(fittedPositions(16_000, 128)).toBe(128);
});

test("a piece leaves two seconds of its window for the silence after it", () => {
  expect(samplesOfWindow(1500)).toBe(28 * 16_000);
  expect(samplesOfWindow(150)).toBe(1.5 * 16_000);
});

test("short sounds are padded with silence, and others are left unchanged", () => {
  const short = Int16Array.of(1, 2, 3);
  expect(padSamples(short).length).toBe(16_000);
  expect(padSamples(short).subarray(0, 4)).toEqual(Int16Array.of(1, 2, 3, 0));
  const long = new Int16Array(16_001);
  expect(padSamples(long)).toBe(long);
});

test("one loud tenth of a second makes a sound loud", () => {
  expect(isLoud(new Int16Array(16_000).fill(500))).toBe(false);
  expect(isLoud(new Int16Array(32_000).fill(2000, 20_000, 22_000))).toBe(true);
});

test("sound is cut at the quietest place in the last fifth of what fits, and no sample is lost", () => {
  const samples = new Int16Array(60_000).fill(1000);
  samples.fill(0, 10_000, 14_000); // Before the searched part.
  samples.fill(10, 27_000, 29_000);
  const pieces = cutSound(samples, 32_000);
  expect(pieces.map(({ length }) => length)).toEqual([28_000, 32_000]);
  expect(Int16Array.from(pieces.flatMap((piece) => [...piece]))).toEqual(samples);
});

test("sound without a pause is cut into pieces that fit", () => {
  const pieces = cutSound(new Int16Array(1_000_000).fill(1000), 448_000);
  expect(pieces.slice(0, -1).every(({ length }) => length > 350_000 && length <= 448_000)).toBe(true);
  expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(1_000_000);
});

test("sound that fits is not cut, and neither is empty sound", () => {
  expect(cutSound(new Int16Array(10), 10)).toEqual([new Int16Array(10)]);
  expect(cutSound(new Int16Array(0), 10)).toEqual([new Int16Array(0)]);
});
