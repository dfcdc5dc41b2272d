import { expect, test } from "vitest";
import { type G711Law, g711Samples } from "./g711.ts";

test.each<[G711Law, readonly (readonly [number, number])[]]>([
  [
    "mulaw",
    [
      [0xff, 0],
      [0x7f, 0],
      [0x80, 32_124],
      [0x00, -32_124],
      [0xf0, 120],
      [0x70, -120],
    ],
  ],
  [
    "alaw",
    [
      [0xd5, 8],
      [0x55, -8],
      [0xaa, 32_256],
      [0x2a, -32_256],
      [0xc5, 264],
    ],
  ],
])("the codes of %s become the samples of ITU-T G.711", (law, cases) => {
  const samples = g711Samples(Uint8Array.from(cases.map(([code]) => code)), law);
  expect([...samples]).toEqual(cases.map(([, sample]) => sample));
});

test.each<G711Law>(["mulaw", "alaw"])("positive and negative codes of %s are mirrored", (law) => {
  const positive = g711Samples(
    Uint8Array.from({ length: 128 }, (_, code) => code + 128),
    law,
  );
  const negative = g711Samples(
    Uint8Array.from({ length: 128 }, (_, code) => code),
    law,
  );
  expect([...negative].map((sample) => -sample || 0)).toEqual([...positive].map((sample) => sample || 0));
});
