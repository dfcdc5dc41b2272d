import { GgufWriter } from "./gguf-writer.ts";

/** Sizes of an encoder of the BERT family. */
export interface EncoderSizes {
  readonly width: number;
  readonly innerWidth: number;
  readonly layers: number;
  readonly heads: number;
  readonly positions: number;
  readonly epsilon: number;
}

/** The values of a tensor by the name that BERT's authors gave it, and its shape, the rows first. */
export type TensorSource = (name: string, shape: readonly number[]) => Float32Array;

/** Types of tokens in a model file. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
/** How a pooled vector is made: the mean of all tokens. */
const MEAN = 1;
/** Stands before a word in a vocabulary of pieces. */
const WORD_START = "\u2581";
const TEXT_KINDS = 2;

/** Names of tensors within a layer: ours, and BERT's. */
const LAYER_PARTS = [
  ["attn_q", "attention.self.query", "width", "width"],
  ["attn_k", "attention.self.key", "width", "width"],
  ["attn_v", "attention.self.value", "width", "width"],
  ["attn_output", "attention.output.dense", "width", "width"],
  ["attn_output_norm", "attention.output.LayerNorm", "width", null],
  ["ffn_up", "intermediate.dense", "innerWidth", "width"],
  ["ffn_down", "output.dense", "width", "innerWidth"],
  ["layer_output_norm", "output.LayerNorm", "width", null],
] as const;

/**
 * Writes a model that turns texts into vectors, in the format GGUF. `words` are the pieces of WordPiece by their
 * numbers. Source of the names: the tensor table of llama.cpp.
 */
export function encoderFile(
  name: string,
  { sizes, words, tensors }: { sizes: EncoderSizes; words: readonly string[]; tensors: TensorSource },
): Buffer {
  const file = new GgufWriter();
  writeSizes(file, name, sizes);
  writeWords(file, words);
  const { width } = sizes;
  const add = (ours: string, theirs: string, shape: readonly number[]): void =>
    file.tensor(ours, shape.toReversed(), tensors(theirs, shape));
  add("token_embd.weight", "embeddings.word_embeddings.weight", [words.length, width]);
  add("position_embd.weight", "embeddings.position_embeddings.weight", [sizes.positions, width]);
  add("token_types.weight", "embeddings.token_type_embeddings.weight", [TEXT_KINDS, width]);
  for (const part of ["weight", "bias"]) add(`token_embd_norm.${part}`, `embeddings.LayerNorm.${part}`, [width]);
  for (let layer = 0; layer < sizes.layers; layer++)
    for (const [ours, theirs, rows, columns] of LAYER_PARTS) {
      const shape = columns === null ? [sizes[rows]] : [sizes[rows], sizes[columns]];
      add(`blk.${layer}.${ours}.weight`, `encoder.layer.${layer}.${theirs}.weight`, shape);
      add(`blk.${layer}.${ours}.bias`, `encoder.layer.${layer}.${theirs}.bias`, [sizes[rows]]);
    }
  return file.bytes();
}

function writeSizes(file: GgufWriter, name: string, sizes: EncoderSizes): void {
  file.text("general.architecture", "bert");
  file.text("general.name", name);
  file.number("bert.block_count", sizes.layers);
  file.number("bert.context_length", sizes.positions);
  file.number("bert.embedding_length", sizes.width);
  file.number("bert.feed_forward_length", sizes.innerWidth);
  file.number("bert.attention.head_count", sizes.heads);
  file.fraction("bert.attention.layer_norm_epsilon", sizes.epsilon);
  file.flag("bert.attention.causal", false);
  file.number("bert.pooling_type", MEAN);
}

function writeWords(file: GgufWriter, words: readonly string[]): void {
  const isControl = (word: string): boolean => /^\[.+\]$/.test(word);
  const piece = (word: string): string => (word.startsWith("##") ? word.slice(2) : WORD_START + word);
  file.text("tokenizer.ggml.model", "bert");
  file.number("tokenizer.ggml.token_type_count", TEXT_KINDS);
  file.texts(
    "tokenizer.ggml.tokens",
    words.map((word) => (isControl(word) ? word : piece(word))),
  );
  file.numbers(
    "tokenizer.ggml.token_type",
    words.map((word) => (word === "[UNK]" ? UNKNOWN : isControl(word) ? CONTROL : NORMAL)),
  );
  for (const [key, word] of [
    ["padding", "[PAD]"],
    ["unknown", "[UNK]"],
    ["bos", "[CLS]"],
    ["cls", "[CLS]"],
    ["eos", "[SEP]"],
    ["seperator", "[SEP]"],
    ["mask", "[MASK]"],
  ] as const)
    file.number(`tokenizer.ggml.${key}_token_id`, words.indexOf(word));
}
