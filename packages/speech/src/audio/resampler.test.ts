import { describe, expect, test } from "vitest";
import { Resampler } from "./resampler.ts";

const SECOND_TENTH = 0.1;

function tone(hertz: number, sampleRateHz: number, seconds: number, amplitude = 20_000): Int16Array {
  return Int16Array.from({ length: Math.round(sampleRateHz * seconds) }, (_, index) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * index) / sampleRateHz)),
  );
}

function resampled(samples: Int16Array, fromHz: number, toHz: number, pieceLength = samples.length): Int16Array {
  const resampler = new Resampler(fromHz, toHz);
  const pieces: Int16Array[] = [];
  for (let start = 0; start < samples.length; start += pieceLength)
    pieces.push(resampler.push(samples.subarray(start, start + pieceLength)));
  pieces.push(resampler.end());
  return Int16Array.from(pieces.flatMap((piece) => [...piece]));
}

/** Drops the edges, where the filter mixes in the silence around the sound. */
function inner(samples: Int16Array): Int16Array {
  return samples.subarray(Math.floor(samples.length / 4), Math.floor((3 * samples.length) / 4));
}

function rms(samples: ArrayLike<number>): number {
  const squares = Array.from(samples, (sample) => sample ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

const RATES: readonly (readonly [number, number])[] = [
  [22_050, 24_000],
  [22_050, 8000],
  [22_050, 48_000],
  [24_000, 22_050],
  [48_000, 8000],
  [8000, 48_000],
  [22_050, 23_999],
];

describe("a change of the sample rate", () => {
  test.each(RATES)("from %i to %i Hz keeps the frequency, length and phase of a tone", (fromHz, toHz) => {
    const output = resampled(tone(440, fromHz, SECOND_TENTH), fromHz, toHz);
    const expected = tone(440, toHz, SECOND_TENTH);
    expect(output.length).toBe(Math.round((Math.round(fromHz * SECOND_TENTH) * toHz) / fromHz));
    const errors = inner(output).map((sample, index) => sample - (inner(expected)[index] ?? 0));
    expect(rms(errors) / rms(inner(expected))).toBeLessThan(0.001);
  });

  test.each([1, 7, 160, 1000])("gives the same output for pieces of %i samples", (pieceLength) => {
    const sound = tone(1000, 22_050, SECOND_TENTH);
    expect(resampled(sound, 22_050, 24_000, pieceLength)).toEqual(resampled(sound, 22_050, 24_000));
  });

  test("to a lower rate removes higher frequencies without aliasing", () => {
    const output = resampled(tone(6000, 24_000, SECOND_TENTH), 24_000, 8000);
    expect(rms(inner(output))).toBeLessThan(5);
  });

  test("to the same rate leaves the sound unchanged", () => {
    const sound = tone(440, 24_000, 0.01);
    expect(resampled(sound, 24_000, 24_000, 13)).toEqual(sound);
  });

  test("clips to the range of a sample", () => {
    const square = Int16Array.from({ length: 2000 }, (_, index) => (index % 100 < 50 ? 32_767 : -32_768));
    const output = resampled(square, 8000, 44_100);
    expect(Math.max(...output)).toBe(32_767);
    expect(Math.min(...output)).toBe(-32_768);
  });

  test("of empty sound is empty", () => {
    expect(resampled(new Int16Array(0), 22_050, 24_000)).toEqual(new Int16Array(0));
  });
});
