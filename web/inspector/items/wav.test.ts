import { expect, test } from "vitest";
import { wavOf } from "./wav.ts";

test("a recording is a WAV file with the length of its samples", () => {
  const file = wavOf([Int16Array.of(1, 2), Int16Array.of(-1)], 48_000);
  const view = new DataView(file.buffer);
  const word = (at: number): string => String.fromCodePoint(...file.slice(at, at + 4));
  expect([word(0), word(8), word(12), word(36)]).toEqual(["RIFF", "WAVE", "fmt ", "data"]);
  expect([view.getUint32(4, true), view.getUint32(24, true), view.getUint32(40, true)]).toEqual([42, 48_000, 6]);
  expect([view.getInt16(44, true), view.getInt16(46, true), view.getInt16(48, true)]).toEqual([1, 2, -1]);
});
