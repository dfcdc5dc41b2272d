import { EncoderMemory, type KernelMatrix, unpackRow } from "./encoder-memory.ts";
import {
  BLOCK,
  BLOCK_BYTES,
  type EncoderShape,
  floatsIn,
  HEAD_WIDTH,
  type ModelFile,
  type Tensor,
} from "./model-file.ts";
import { ModelUnusable } from "./model-unusable.ts";
import { PieceTokenizer } from "./piece-tokenizer.ts";

/** The largest amount of an activation: products of 32 of them with 4-bit weights stay exact in 32 bits. */
const ACTIVATION_MAX = 16_383;
/** The kernel takes so many tokens at once. */
const TOKENS_STEP = 4;

/** Beyond this amount, the activation is the number itself, or 0, in 32-bit floats. */
const GELU_LIMIT = 6;
const GELU_STEPS_PER_UNIT = 1024;
const GELU_TABLE = Float64Array.from({ length: 2 * GELU_LIMIT * GELU_STEPS_PER_UNIT + 2 }, (_, index) => {
  const x = index / GELU_STEPS_PER_UNIT - GELU_LIMIT;
  return (x / 2) * (1 + erf(x / Math.SQRT2));
});

interface Norm {
  readonly gains: Float32Array;
  readonly biases: Float32Array;
}

interface Layer {
  readonly query: KernelMatrix;
  readonly key: KernelMatrix;
  readonly value: KernelMatrix;
  readonly attentionOut: KernelMatrix;
  readonly attentionNorm: Norm;
  readonly inner: KernelMatrix;
  readonly outer: KernelMatrix;
  readonly outNorm: Norm;
}

/** Turns texts into vectors by an encoder of BERT's kind: attention over each text, and the mean of its tokens. */
export class TextEncoderModel {
  readonly #memory = new EncoderMemory();
  readonly #shape: EncoderShape;
  readonly #tokenizer: PieceTokenizer;
  readonly #ends: { readonly begin: number; readonly end: number };
  readonly #words: Buffer;
  /** Position and token type together. */
  readonly #positions: Float32Array;
  readonly #wordNorm: Norm;
  readonly #layers: readonly Layer[];
  readonly #places: Places;

  /** Throws `ModelUnusable`. */
  constructor(file: ModelFile) {
    const { shape, pieces } = file;
    const parts = new Parts(file, this.#memory);
    this.#shape = shape;
    this.#tokenizer = new PieceTokenizer(pieces);
    this.#ends = pieces;
    this.#words = parts.tensor("emb.word").bytes;
    const wordBytes = shape.words * (shape.width / BLOCK) * BLOCK_BYTES;
    if (this.#words.length !== wordBytes || pieces.texts.length > shape.words)
      throw new ModelUnusable("has a table of words of another size");
    const type = parts.floats("emb.type");
    this.#positions = parts.floats("emb.pos").map((value, index) => value + (type[index % shape.width] ?? 0));
    this.#wordNorm = parts.norm("emb.ln");
    this.#layers = Array.from({ length: shape.layers }, (_, index) => parts.layer(index));
    this.#places = reservePlaces(this.#memory, shape);
  }

  /** A vector of unit length. The mean of its parts if the text is longer than the model's positions. */
  encode(text: string): Float32Array {
    const { positions, width } = this.#shape;
    const tokens = this.#tokenizer.tokenize(text);
    const vector = new Float32Array(width);
    const partMax = positions - 2;
    for (let start = 0; start === 0 || start < tokens.length; start += partMax) {
      const part = tokens.slice(start, start + partMax);
      const mean = this.#encodePart([this.#ends.begin, ...part, this.#ends.end]);
      for (let index = 0; index < width; index++)
        vector[index] = (vector[index] ?? 0) + (mean[index] ?? 0) * Math.max(1, part.length);
    }
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  }

  /** The mean of the tokens' last states. */
  #encodePart(tokens: readonly number[]): Float32Array {
    const { width } = this.#shape;
    const states = this.#memory.floats(this.#places.states, tokens.length * width);
    for (const [place, token] of tokens.entries()) {
      const row = states.subarray(place * width, (place + 1) * width);
      unpackRow(this.#words, token, row);
      for (let index = 0; index < width; index++)
        row[index] = (row[index] ?? 0) + (this.#positions[place * width + index] ?? 0);
    }
    this.#normalize(tokens.length, this.#wordNorm, null);
    for (const layer of this.#layers) this.#passLayer(layer, tokens.length);
    const mean = new Float32Array(width);
    for (const [index, value] of states.entries())
      mean[index % width] = (mean[index % width] ?? 0) + value / tokens.length;
    return mean;
  }

  #passLayer(layer: Layer, count: number): void {
    const { states, queries, keys, values, mixture, inner, change } = this.#places;
    const { width, innerWidth } = this.#shape;
    this.#quantize(states, count, width);
    this.#multiply(layer.query, queries, count);
    this.#multiply(layer.key, keys, count);
    this.#multiply(layer.value, values, count);
    this.#attend(count);
    this.#quantize(mixture, count, width);
    this.#multiply(layer.attentionOut, change, count);
    this.#normalize(count, layer.attentionNorm, change);
    this.#quantize(states, count, width);
    this.#multiply(layer.inner, inner, count);
    const amounts = this.#memory.floats(inner, count * innerWidth);
    for (let index = 0; index < amounts.length; index++) amounts[index] = gelu(amounts[index] ?? 0);
    this.#quantize(inner, count, innerWidth);
    this.#multiply(layer.outer, change, count);
    this.#normalize(count, layer.outNorm, change);
  }

  /** Writes the rows as integers, and their scales, to where `multiply` reads them. */
  #quantize(place: number, count: number, width: number): void {
    const { integers, integerScales } = this.#places;
    const floats = this.#memory.floats(place, count * width);
    const shorts = this.#memory.shorts(integers, count * width);
    const scales = this.#memory.floats(integerScales, count);
    for (let row = 0; row < count; row++) {
      const start = row * width;
      const end = start + width;
      let greatest = 0;
      for (let index = start; index < end; index++) greatest = Math.max(greatest, Math.abs(floats[index] ?? 0));
      const factor = greatest === 0 ? 0 : ACTIVATION_MAX / greatest;
      scales[row] = greatest / ACTIVATION_MAX;
      for (let index = start; index < end; index++) shorts[index] = Math.round((floats[index] ?? 0) * factor);
    }
  }

  #multiply({ weights, scales, biases, width, rows }: KernelMatrix, out: number, count: number): void {
    const { integers, integerScales } = this.#places;
    const places = [weights, scales, biases, integers, integerScales, out, count, width, rows];
    this.#memory.kernel.multiply(...places);
  }

  /** For each token and head: a mean of the values, weighted by how well their keys suit the query. */
  #attend(count: number): void {
    const { queries, keys, values, mixture, weights } = this.#places;
    const { width, heads } = this.#shape;
    const { compare, mix } = this.#memory.kernel;
    const amounts = this.#memory.floats(weights, count);
    const stride = width * 4;
    for (let token = 0; token < count; token++)
      for (let head = 0; head < heads; head++) {
        const from = head * HEAD_WIDTH * 4;
        const at = token * stride + from;
        compare(queries + at, keys + from, weights, count, stride);
        softmax(amounts);
        mix(weights, values + from, mixture + at, count, stride);
      }
  }

  /** Normalizes the states, after adding the change to them. */
  #normalize(count: number, { gains, biases }: Norm, change: number | null): void {
    const { width, epsilon } = this.#shape;
    const states = this.#memory.floats(this.#places.states, count * width);
    const changes = change === null ? null : this.#memory.floats(change, count * width);
    for (let start = 0; start < states.length; start += width) {
      let sum = 0;
      for (let index = start; index < start + width; index++) {
        if (changes !== null) states[index] = (states[index] ?? 0) + (changes[index] ?? 0);
        sum += states[index] ?? 0;
      }
      const mean = sum / width;
      let squares = 0;
      for (let index = start; index < start + width; index++) squares += ((states[index] ?? 0) - mean) ** 2;
      const factor = 1 / Math.sqrt(squares / width + epsilon);
      for (let index = 0; index < width; index++)
        states[start + index] =
          ((states[start + index] ?? 0) - mean) * factor * (gains[index] ?? 0) + (biases[index] ?? 0);
    }
  }
}

/** The Gaussian error linear unit: x times the share of a normal distribution below x. Error below 1e-6. */
function gelu(x: number): number {
  if (x >= GELU_LIMIT) return x;
  if (!(x > -GELU_LIMIT)) return 0;
  const place = (x + GELU_LIMIT) * GELU_STEPS_PER_UNIT;
  const index = Math.floor(place);
  const low = GELU_TABLE[index] ?? 0;
  return low + (place - index) * ((GELU_TABLE[index + 1] ?? 0) - low);
}

/** The error function by its series, exact enough below an amount of 5. */
function erf(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; n < 120; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** Turns products of queries and keys into weights with the sum 1. */
function softmax(amounts: Float32Array): void {
  const scale = 1 / Math.sqrt(HEAD_WIDTH);
  let greatest = Number.NEGATIVE_INFINITY;
  for (const amount of amounts) greatest = Math.max(greatest, amount);
  let sum = 0;
  for (let index = 0; index < amounts.length; index++) {
    const weight = Math.exp(((amounts[index] ?? 0) - greatest) * scale);
    amounts[index] = weight;
    sum += weight;
  }
  for (let index = 0; index < amounts.length; index++) amounts[index] = (amounts[index] ?? 0) / sum;
}

type Places = Readonly<
  Record<
    | "states"
    | "queries"
    | "keys"
    | "values"
    | "mixture"
    | "change"
    | "inner"
    | "integers"
    | "integerScales"
    | "weights",
    number
  >
>;

/** Room for one text of the greatest length. */
function reservePlaces(memory: EncoderMemory, { positions, width, innerWidth }: EncoderShape): Places {
  const tokens = Math.ceil(positions / TOKENS_STEP) * TOKENS_STEP;
  const rows = (rowWidth: number): number => memory.reserve(tokens * rowWidth * 4);
  return {
    states: rows(width),
    queries: rows(width),
    keys: rows(width),
    values: rows(width),
    mixture: rows(width),
    change: rows(width),
    inner: rows(innerWidth),
    integers: memory.reserve(tokens * Math.max(width, innerWidth) * 2),
    integerScales: memory.reserve(tokens * 4),
    weights: memory.reserve(tokens * 4),
  };
}

/** Finds the parts of a file by their names. */
class Parts {
  readonly #file: ModelFile;
  readonly #memory: EncoderMemory;

  constructor(file: ModelFile, memory: EncoderMemory) {
    this.#file = file;
    this.#memory = memory;
  }

  tensor(name: string): Tensor {
    const tensor = this.#file.tensors.get(name);
    if (tensor === undefined) throw new ModelUnusable(`lacks the part ${name}`);
    return tensor;
  }

  floats(name: string): Float32Array {
    return floatsIn(this.tensor(name).bytes);
  }

  norm(name: string): Norm {
    return { gains: this.floats(`${name}.w`), biases: this.floats(`${name}.b`) };
  }

  layer(index: number): Layer {
    const { width, innerWidth } = this.#file.shape;
    const matrix = (name: string, from: number, to: number): KernelMatrix =>
      this.#memory.addMatrix(this.tensor(`l${index}.${name}.w`), this.tensor(`l${index}.${name}.b`), from, to);
    return {
      query: matrix("q", width, width),
      key: matrix("k", width, width),
      value: matrix("v", width, width),
      attentionOut: matrix("ao", width, width),
      attentionNorm: this.norm(`l${index}.aln`),
      inner: matrix("fi", width, innerWidth),
      outer: matrix("fo", innerWidth, width),
      outNorm: this.norm(`l${index}.oln`),
    };
  }
}
