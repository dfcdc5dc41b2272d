/**
 * Writes a legal model for embeddings with random weights: one layer, and letters as pieces of words. Texts of the same
 * letters have vectors that are near each other; nothing else is meant by them.
 */
import { type EncoderSizes, encoderFile } from "./encoder-writer.ts";
import { randomNumbers } from "./random-numbers.ts";

const SIZES: EncoderSizes = { width: 64, innerWidth: 128, layers: 1, heads: 2, positions: 128, epsilon: 1e-12 };
const SEED = 20_261_129;
const MARKERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!".split("");

/** The bytes of the model file. */
export function tinyEncoder(): Buffer {
  const words = [...MARKERS, ...LETTERS, ...LETTERS.map((letter) => `##${letter}`)];
  const random = randomNumbers(SEED);
  return encoderFile("Tiny random encoder", {
    sizes: SIZES,
    words,
    tensors: (name, shape) => {
      const length = shape.reduce((product, size) => product * size, 1);
      if (/LayerNorm[.]weight$/.test(name)) return new Float32Array(length).fill(1);
      if (name.endsWith(".bias")) return new Float32Array(length);
      return Float32Array.from({ length }, () => random() / Math.sqrt(SIZES.width));
    },
  });
}
