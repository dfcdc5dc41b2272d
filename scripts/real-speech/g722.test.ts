import { expect, test } from "vitest";
import { decodeG722 } from "./g722.ts";

/** The code of the smallest difference in both bands. */
const NEARLY_NOTHING = 0xff;

test("each byte gives two samples, and silence stays silent", () => {
  const samples = decodeG722(new Uint8Array(4000).fill(NEARLY_NOTHING));
  expect(samples.length).toBe(8000);
  expect(Math.max(...samples.map(Math.abs))).toBeLessThan(20);
});

test("codes that alternate make a tone within the range of 16-bit samples", () => {
  const bytes = Uint8Array.from({ length: 4000 }, (_, index) => (index % 16 < 8 ? 0xc8 : 0xe8));
  const samples = decodeG722(bytes);
  const crossings = samples.filter((sample, index) => index > 0 && sample >= 0 !== (samples[index - 1] ?? 0) >= 0);
  expect(crossings.length).toBeGreaterThan(400);
  expect(Math.max(...samples.map(Math.abs))).toBeGreaterThan(1000);
});
