import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { TextEncoderModel } from "./encoder.ts";
import { unpackRow } from "./encoder-memory.ts";
import { floatsIn, type ModelFile, readModelFile } from "./model-file.ts";
import { ModelUnusable } from "./model-unusable.ts";
import { PieceTokenizer } from "./piece-tokenizer.ts";
import { MATRICES, tinyModel } from "./tiny-model.fixture.ts";

const GROUPS = [["car", "automobile"], ["fox"], ["jumps"], ["sleeps"]];
const WIDTH = 32;
const bytes = tinyModel({ groups: GROUPS });
const file = readModelFile(bytes);

test("a text becomes the most likely pieces, with replaced characters and single blanks", () => {
  const { tokenize } = {
    tokenize: (text: string) => new PieceTokenizer(file.pieces).tokenize(text).map((id) => file.pieces.texts[id]),
  };
  expect(tokenize("fox  jumps")).toEqual(["▁fox", "▁jumps"]);
  expect(tokenize("cAr")).toEqual(["▁car"]);
  expect(tokenize("foxb")).toEqual(["▁fox", "b"]);
  expect(tokenize("z😀")).toEqual(["▁", "z", "<unk>"]);
  expect(tokenize("")).toEqual(["▁"]);
  expect(tokenize("\ud800")).toEqual(["▁", "<unk>"]);
});

test.each(["car", "fox jumps", "the automobile sleeps", "fox fox car jumps sleeps automobile"])(
  "the vector of '%s' is that of plain arithmetic",
  (text) => {
    const vector = new TextEncoderModel(file).encode(text);
    const expected = plainVector(file, new PieceTokenizer(file.pieces).tokenize(text));
    expect(vector.length).toBe(WIDTH);
    for (const [index, value] of expected.entries()) expect(Math.abs((vector[index] ?? 0) - value)).toBeLessThan(0.002);
  },
);

test("a text that is longer than the model's positions gets the mean of its parts", () => {
  const encoder = new TextEncoderModel(file);
  const part = Array.from({ length: 14 }, () => "fox").join(" ");
  const whole = encoder.encode(`${part} ${part}`);
  const once = encoder.encode(part);
  for (const [index, value] of whole.entries()) expect(value).toBeCloseTo(once[index] ?? 0, 4);
});

test("a file that is cut short, or no model, is refused with a reason", () => {
  verifies("vector-stores.local-model.unusable-file");
  for (let end = 0; end < bytes.length; end += 97)
    expect(() => new TextEncoderModel(readModelFile(bytes.subarray(0, end)))).toThrow(ModelUnusable);
  expect(() => readModelFile(Buffer.from("PK\u0003\u0004".repeat(99)))).toThrow("is no model in the format E5S1");
});

/** The same by loops over 64-bit floats. */
function plainVector({ tensors, shape, pieces }: ModelFile, tokens: readonly number[]): readonly number[] {
  const bytesOf = (name: string): Buffer => tensors.get(name)?.bytes ?? Buffer.alloc(0);
  const floats = (name: string): number[] => [...floatsIn(bytesOf(name))];
  const norm = (row: readonly number[], name: string): number[] => {
    const mean = row.reduce((sum, value) => sum + value, 0) / WIDTH;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / WIDTH;
    const gains = floats(`${name}.w`);
    const biases = floats(`${name}.b`);
    return row.map(
      (value, index) =>
        ((value - mean) / Math.sqrt(variance + shape.epsilon)) * (gains[index] ?? 0) + (biases[index] ?? 0),
    );
  };
  const product = (name: string, row: readonly number[]): number[] => {
    const [, width, height] = MATRICES.find(([matrix]) => name.endsWith(`.${matrix}`)) ?? ["", 0, 0];
    const biases = floats(`${name}.b`);
    const weights = new Float32Array(width);
    return Array.from({ length: height }, (_, index) => {
      unpackRow(bytesOf(`${name}.w`), index, weights);
      return row.reduce((sum, value, place) => sum + value * (weights[place] ?? 0), biases[index] ?? 0);
    });
  };
  const plus = (one: readonly number[], other: readonly number[]): number[] =>
    one.map((value, index) => value + (other[index] ?? 0));
  const positions = floats("emb.pos");
  const word = new Float32Array(WIDTH);
  let states = [pieces.begin, ...tokens, pieces.end].map((token, place) => {
    unpackRow(bytesOf("emb.word"), token, word);
    return norm(plus([...word], positions.slice(place * WIDTH)), "emb.ln");
  });
  for (let layer = 0; layer < shape.layers; layer++) {
    const keys = states.map((row) => product(`l${layer}.k`, row));
    const values = states.map((row) => product(`l${layer}.v`, row));
    states = states.map((row) => {
      const query = product(`l${layer}.q`, row);
      const weights = keys.map((key) =>
        Math.exp(key.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0) / Math.sqrt(32)),
      );
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const mixture = Array.from({ length: WIDTH }, (_, index) =>
        values.reduce((sum, value, place) => sum + ((weights[place] ?? 0) / total) * (value[index] ?? 0), 0),
      );
      const attended = norm(plus(row, product(`l${layer}.ao`, mixture)), `l${layer}.aln`);
      const inner = product(`l${layer}.fi`, attended).map(plainGelu);
      return norm(plus(attended, product(`l${layer}.fo`, inner)), `l${layer}.oln`);
    });
  }
  const sums = Array.from({ length: WIDTH }, (_, index) => states.reduce((sum, row) => sum + (row[index] ?? 0), 0));
  return sums.map((value) => value / Math.hypot(...sums));
}

/** By the integral of the normal density, in steps. */
function plainGelu(x: number): number {
  const steps = 4000;
  let sum = 0;
  for (let step = 0; step < steps; step++) sum += Math.exp(-(((x * (step + 0.5)) / steps) ** 2) / 2);
  return x * (0.5 + (sum * x) / steps / Math.sqrt(2 * Math.PI));
}
