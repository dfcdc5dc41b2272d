import { expect, test } from "vitest";
import { readCTranslate2 } from "./ctranslate2-model.ts";
import { ggmlModel, tokenBytes } from "./ggml-model.ts";

const FLOAT_32 = 0;
const INT_8 = 1;
const INT_16 = 2;
const FLOAT_16 = 4;
const STATE = 2;

function uint32(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(values).buffer);
}

function name(text: string): Uint8Array {
  return Buffer.concat([new Uint8Array(Uint16Array.of(text.length + 1).buffer), Buffer.from(`${text}\0`)]);
}

function stored(path: string, shape: readonly number[], type: number, values: ArrayBuffer): Uint8Array {
  const sizes = [Uint8Array.of(shape.length), uint32(...shape), Uint8Array.of(type), uint32(values.byteLength)];
  return Buffer.concat([name(path), ...sizes, new Uint8Array(values)]);
}

/** Encodes array number and index in each value: 3.5 is the sixth value of array 3. */
function counted(path: string, shape: readonly number[], number: number, type = FLOAT_16): Uint8Array {
  const length = shape.reduce((product, size) => product * size, 1);
  const values = Array.from({ length }, (_, index) => number + index / 128);
  const array = type === FLOAT_16 ? Float16Array.from(values) : Float32Array.from(values);
  return stored(path, shape, type, array.buffer);
}

function norm(path: string): Uint8Array[] {
  return [counted(`${path}/gamma`, [STATE], 1), counted(`${path}/beta`, [STATE], 2, FLOAT_32)];
}

function linear(path: string, rows: number, columns: number): Uint8Array[] {
  return [counted(`${path}/weight`, [rows, columns], 3), counted(`${path}/bias`, [rows], 4)];
}

/** Stacked matrices. The file stores zeros for the keys, which have no bias. */
function stacked(path: string, bias: readonly number[]): Uint8Array[] {
  const weight = counted(`${path}/weight`, [bias.length, STATE], 5);
  return [weight, stored(`${path}/bias`, [bias.length], FLOAT_16, Float16Array.from(bias).buffer)];
}

function block(path: string, isDecoder: boolean): Uint8Array[] {
  const self = `${path}/self_attention`;
  const cross = `${path}/attention`;
  return [
    ...norm(`${self}/layer_norm`),
    ...stacked(`${self}/linear_0`, [1, 2, 0, 0, 5, 6]),
    ...linear(`${self}/linear_1`, STATE, STATE),
    ...(isDecoder
      ? [
          ...norm(`${cross}/layer_norm`),
          ...linear(`${cross}/linear_0`, STATE, STATE),
          ...stacked(`${cross}/linear_1`, [0, 0, 7, 8]),
          ...linear(`${cross}/linear_2`, STATE, STATE),
        ]
      : []),
    ...norm(`${path}/ffn/layer_norm`),
    ...linear(`${path}/ffn/linear_0`, 4 * STATE, STATE),
    ...linear(`${path}/ffn/linear_1`, STATE, 4 * STATE),
  ];
}

/** A minimal model: one encoder layer, one decoder layer, three tokens. */
function tinyModel(architecture = "WhisperSpec"): Buffer {
  const variables = [
    stored("decoder/activation", [], INT_8, Uint8Array.of(3).buffer),
    stored("decoder/num_heads", [], INT_16, Int16Array.of(2).buffer),
    stored("encoder/num_heads", [], INT_16, Int16Array.of(1).buffer),
    counted("decoder/embeddings/weight", [3, STATE], 6),
    counted("decoder/position_encodings/encodings", [4, STATE], 7),
    counted("encoder/position_encodings/encodings", [5, STATE], 8),
    ...linearConvolution("encoder/conv1", 80),
    ...linearConvolution("encoder/conv2", STATE),
    ...norm("encoder/layer_norm"),
    ...norm("decoder/layer_norm"),
    ...block("encoder/layer_0", false),
    ...block("decoder/layer_0", true),
  ];
  const head = [uint32(6), name(architecture), uint32(3), uint32(variables.length)];
  return Buffer.concat([...head, ...variables, uint32(1), name("decoder/projection/weight"), name("an alias")]);
}

function linearConvolution(path: string, inputs: number): Uint8Array[] {
  return [counted(`${path}/weight`, [STATE, inputs, 3], 9), counted(`${path}/bias`, [STATE], 10)];
}

/** Reads the header numbers, tokens and tensors of a whisper.cpp file. */
function readGgml(bytes: Buffer) {
  let place = 0;
  const take = (length: number): Buffer => bytes.subarray(place, (place += length));
  const int = (): number => take(4).readInt32LE();
  const head = Array.from({ length: 12 }, int);
  take(int() * int() * 4);
  const words = Array.from({ length: int() }, () => take(int()).toString("latin1"));
  const tensors = new Map<string, { shape: number[]; values: number[]; bits: number }>();
  while (place < bytes.length) {
    const sizes = int();
    const length = int();
    const type = int();
    const shape = Array.from({ length: sizes }, int);
    const path = take(length).toString();
    const count = shape.reduce((product, size) => product * size, 1);
    const { buffer } = Uint8Array.from(take(count * (type === 1 ? 2 : 4)));
    const values = type === 1 ? new Float16Array(buffer) : new Float32Array(buffer);
    tensors.set(path, { shape, values: [...values], bits: type === 1 ? 16 : 32 });
  }
  return { head, words, tensors };
}

test("a converted model has the same sizes, tokens and arrays, under the engine's names", () => {
  const { head, words, tensors } = readGgml(ggmlModel(readCTranslate2(tinyModel()), ["!", "Ġask", "Ċ"]));
  expect(head).toEqual([0x67676d6c, 3, 5, STATE, 1, 1, 4, STATE, 2, 1, 80, 1]);
  expect(words).toEqual(["!", " ask", "\n"]);
  expect(tensors.size).toBe(1 + 4 + 2 + 15 + 1 + 1 + 2 + 24);
  expect(tensors.get("decoder.token_embedding.weight")).toMatchObject({ shape: [STATE, 3], bits: 16 });
  expect(tensors.get("encoder.positional_embedding")).toMatchObject({ shape: [STATE, 5], bits: 32 });
  expect(tensors.get("encoder.conv1.weight")).toMatchObject({ shape: [3, 80, STATE], bits: 16 });
  expect(tensors.get("encoder.conv1.bias")).toEqual({ shape: [1, STATE], values: [10, 10 + 1 / 128], bits: 32 });
  expect(tensors.get("encoder.blocks.0.mlp.0.weight")).toMatchObject({ shape: [STATE, 4 * STATE] });
});

test("stacked matrices become queries, keys and values, and keys have no bias", () => {
  const { tensors } = readGgml(ggmlModel(readCTranslate2(tinyModel()), []));
  const firstOf = (path: string): number | undefined => tensors.get(path)?.values[0];
  const parts = ["query", "key", "value"].map((part) => firstOf(`encoder.blocks.0.attn.${part}.weight`));
  expect(parts).toEqual([5, 5 + 4 / 128, 5 + 8 / 128]);
  const biases = ["query", "value"].map((part) => tensors.get(`encoder.blocks.0.attn.${part}.bias`)?.values);
  expect(biases).toEqual([
    [1, 2],
    [5, 6],
  ]);
  expect(tensors.get("decoder.blocks.0.cross_attn.value.bias")?.values).toEqual([7, 8]);
  expect([...tensors.keys()].filter((path) => path.endsWith("key.bias"))).toEqual([]);
});

test("a file that is not a Whisper model or is cut off is refused", () => {
  expect(() => readCTranslate2(tinyModel("TransformerSpec"))).toThrow("The model is a TransformerSpec");
  expect(() => readCTranslate2(tinyModel().subarray(0, 1000))).toThrow("The model file is cut off");
  expect(() => readCTranslate2(Buffer.from(uint32(99)))).toThrow("The model has binary version 99");
  expect(() => ggmlModel(new Map(), [])).toThrow("The model lacks decoder/embeddings/weight");
});

test("tokens are spelled with one character for each byte", () => {
  expect([...tokenBytes("Ġé")]).toEqual([0x20, 0xe9]);
  expect(() => tokenBytes("→")).toThrow("A token of the vocabulary contains →");
});
