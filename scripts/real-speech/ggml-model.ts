import { type ModelSizes, ModelWriter } from "../fixture-model/model-writer.ts";
import type { StoredTensor } from "./ctranslate2-model.ts";

/**
 * Number of tokens in the published file: all text tokens and the end of text. The loader adds the other special
 * tokens.
 */
const NAMED_TOKENS = 50_257;

/** Names of a block's layers in CTranslate2 and in whisper.cpp. */
const MLP_LAYERS = [
  ["ffn/layer_norm", "mlp_ln", "norm"],
  ["ffn/linear_0", "mlp.0", "linear"],
  ["ffn/linear_1", "mlp.2", "linear"],
] as const;

/**
 * Converts a CTranslate2 Whisper model to a whisper.cpp file with 16-bit weights, like the published files.
 * `vocabulary` has GPT-2's spelling of each token, in order of ids.
 */
export function ggmlModel(tensors: ReadonlyMap<string, StoredTensor>, vocabulary: readonly string[]): Buffer {
  const words = vocabulary.slice(0, NAMED_TOKENS).map(tokenBytes);
  const source = new Source(tensors);
  const sizes = sizesOf(source);
  const writer = new ModelWriter(sizes, "f16", words);
  const convert = new Converter(source, writer);
  convert.plain("encoder/position_encodings/encodings", "encoder.positional_embedding");
  for (const name of ["conv1", "conv2"]) convert.convolution(`encoder/${name}`, `encoder.${name}`);
  convert.norm("encoder/layer_norm", "encoder.ln_post");
  for (let block = 0; block < sizes.audioLayers; block += 1)
    convert.block(`encoder/layer_${block}`, `encoder.blocks.${block}`, []);
  convert.plain("decoder/position_encodings/encodings", "decoder.positional_embedding");
  convert.weights("decoder/embeddings/weight", "decoder.token_embedding.weight");
  convert.norm("decoder/layer_norm", "decoder.ln");
  for (let block = 0; block < sizes.textLayers; block += 1)
    convert.block(`decoder/layer_${block}`, `decoder.blocks.${block}`, ["cross"]);
  return writer.bytes();
}

function sizesOf(source: Source): ModelSizes {
  const [vocabulary = 0, textState = 0] = source.get("decoder/embeddings/weight").shape;
  const [audioPositions = 0, audioState = 0] = source.get("encoder/position_encodings/encodings").shape;
  const [textPositions = 0] = source.get("decoder/position_encodings/encodings").shape;
  const [, melBins = 0] = source.get("encoder/conv1/weight").shape;
  const [audioHeads = 0] = source.get("encoder/num_heads").values;
  const [textHeads = 0] = source.get("decoder/num_heads").values;
  // The members are in file order.
  return {
    vocabulary,
    audioPositions,
    audioState,
    audioHeads,
    audioLayers: source.layers("encoder"),
    textPositions,
    textState,
    textHeads,
    textLayers: source.layers("decoder"),
    melBins,
  };
}

class Source {
  readonly #tensors: ReadonlyMap<string, StoredTensor>;

  constructor(tensors: ReadonlyMap<string, StoredTensor>) {
    this.#tensors = tensors;
  }

  get(name: string): StoredTensor {
    const tensor = this.#tensors.get(name);
    if (tensor === undefined) throw new Error(`The model lacks ${name}`);
    return tensor;
  }

  layers(half: "decoder" | "encoder"): number {
    let count = 0;
    while (this.#tensors.has(`${half}/layer_${count}/ffn/linear_0/weight`)) count += 1;
    return count;
  }
}

class Converter {
  readonly #source: Source;
  readonly #writer: ModelWriter;

  constructor(source: Source, writer: ModelWriter) {
    this.#source = source;
    this.#writer = writer;
  }

  plain(from: string, to: string): void {
    const { shape, values } = this.#source.get(from);
    this.#writer.tensor(to, shape.toReversed(), values);
  }

  weights(from: string, to: string): void {
    const { shape, values } = this.#source.get(from);
    this.#writer.weights(to, shape.toReversed(), values);
  }

  norm(from: string, to: string): void {
    this.plain(`${from}/gamma`, `${to}.weight`);
    this.plain(`${from}/beta`, `${to}.bias`);
  }

  linear(from: string, to: string): void {
    this.weights(`${from}/weight`, `${to}.weight`);
    this.plain(`${from}/bias`, `${to}.bias`);
  }

  /** Writes a convolution. Its bias needs a second dimension of 1, because the engine adds it to every position. */
  convolution(from: string, to: string): void {
    this.weights(`${from}/weight`, `${to}.weight`);
    const { values } = this.#source.get(`${from}/bias`);
    this.#writer.tensor(`${to}.bias`, [1, values.length], values);
  }

  block(from: string, to: string, more: readonly "cross"[]): void {
    this.#attention(`${from}/self_attention`, `${to}.attn`, ["query", "key", "value"]);
    if (more.includes("cross")) {
      // Queries come from the decoder, keys and values from the encoder.
      this.norm(`${from}/attention/layer_norm`, `${to}.cross_attn_ln`);
      this.#parts(`${from}/attention/linear_0`, `${to}.cross_attn`, ["query"]);
      this.#parts(`${from}/attention/linear_1`, `${to}.cross_attn`, ["key", "value"]);
      this.linear(`${from}/attention/linear_2`, `${to}.cross_attn.out`);
    }
    for (const [theirs, ours, kind] of MLP_LAYERS) this[kind](`${from}/${theirs}`, `${to}.${ours}`);
  }

  #attention(from: string, to: string, parts: readonly string[]): void {
    this.norm(`${from}/layer_norm`, `${to}_ln`);
    this.#parts(`${from}/linear_0`, to, parts);
    this.linear(`${from}/linear_1`, `${to}.out`);
  }

  /**
   * Splits the matrices of one layer, which CTranslate2 stacks. Whisper's keys have no bias: CTranslate2 stores zeros,
   * whisper.cpp nothing.
   */
  #parts(from: string, to: string, parts: readonly string[]): void {
    const { shape, values } = this.#source.get(`${from}/weight`);
    const [rows = 0, columns = 0] = shape;
    const { values: bias } = this.#source.get(`${from}/bias`);
    const size = rows / parts.length;
    for (const [index, part] of parts.entries()) {
      const matrix = values.slice(index * size * columns, (index + 1) * size * columns);
      const partBias = bias.slice(index * size, (index + 1) * size);
      this.#writer.weights(`${to}.${part}.weight`, [columns, size], matrix);
      if (part !== "key") this.#writer.tensor(`${to}.${part}.bias`, [size], partBias);
      else if (partBias.some((value) => value !== 0)) throw new Error(`${from} has a bias for its keys`);
    }
  }
}

/** Returns the bytes of a token. GPT-2's vocabulary spells each byte as one printable character. */
export function tokenBytes(spelling: string): Uint8Array {
  return Uint8Array.from(spelling, (character) => {
    const byte = BYTE_OF_CHARACTER.get(character);
    if (byte === undefined)
      throw new Error(`A token of the vocabulary contains ${character}, which is not the spelling of a byte`);
    return byte;
  });
}

const BYTE_OF_CHARACTER = byteSpelling();

/** Printable bytes stand for themselves; the others are numbered from U+0100. */
function byteSpelling(): ReadonlyMap<string, number> {
  const isPrintable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let others = 0;
  const spelling = new Map<string, number>();
  for (let byte = 0; byte < 256; byte += 1) {
    const code = isPrintable(byte) ? byte : 0x100 + others++;
    spelling.set(String.fromCodePoint(code), byte);
  }
  return spelling;
}
