/**
 * Writes a legal language model with random weights: two layers, bytes as words, and the markers of three families as
 * control tokens. What it writes is nonsense in printable letters, the same each time, and valid JSON under a grammar.
 * It never ends by itself. Usage: node scripts/fixture-model/tiny-language-model.ts FILE
 */

import { writeFileSync } from "node:fs";
import { GgufWriter } from "./gguf-writer.ts";
import { randomNumbers } from "./random-numbers.ts";

const WIDTH = 64;
const FEED_FORWARD = 128;
const LAYERS = 2;
const HEADS = 4;
const SEED = 20_261_128;
const BYTES = 256;

/** Control tokens, after the bytes. The first ends a turn. */
const MARKERS = [
  "<|im_end|>",
  "<|im_start|>",
  "<|endoftext|>",
  "<start_of_turn>",
  "<end_of_turn>",
  "<|start_header_id|>",
  "<|end_header_id|>",
  "<|eot_id|>",
  "<|begin_of_text|>",
];
const VOCABULARY = BYTES + MARKERS.length;

/** Types of tokens in a model file. */
const NORMAL = 1;
const CONTROL = 3;

const FIRST_PRINTABLE = 0x20;
const LAST_PRINTABLE = 0x7e;

export const CHATML_TEMPLATE =
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful assistant<|im_end|>\n' }}{% endif %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

export interface TinyModelOptions {
  /** Left out for one of the ChatML family; null for a base model. */
  readonly template?: string | null;
  readonly contextLength?: number;
  /** Left out for `llama`. */
  readonly architecture?: string;
}

/** The bytes of the model file. */
export function tinyLanguageModel(options: TinyModelOptions = {}): Buffer {
  const { template = CHATML_TEMPLATE, contextLength = 8192, architecture = "llama" } = options;
  const file = new GgufWriter();
  file.text("general.architecture", architecture);
  file.text("general.name", "Tiny random");
  file.number(`${architecture}.context_length`, contextLength);
  file.number(`${architecture}.embedding_length`, WIDTH);
  file.number(`${architecture}.block_count`, LAYERS);
  file.number(`${architecture}.feed_forward_length`, FEED_FORWARD);
  file.number(`${architecture}.attention.head_count`, HEADS);
  file.number(`${architecture}.attention.head_count_kv`, HEADS);
  file.number(`${architecture}.rope.dimension_count`, WIDTH / HEADS);
  file.fraction(`${architecture}.attention.layer_norm_rms_epsilon`, 1e-5);
  file.number(`${architecture}.vocab_size`, VOCABULARY);
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", "gpt-2");
  file.texts("tokenizer.ggml.tokens", [...byteLetters(), ...MARKERS]);
  file.numbers("tokenizer.ggml.token_type", [...Array<number>(BYTES).fill(NORMAL), ...MARKERS.map(() => CONTROL)]);
  file.texts("tokenizer.ggml.merges", []);
  file.number("tokenizer.ggml.eos_token_id", BYTES);
  file.number("tokenizer.ggml.bos_token_id", BYTES + MARKERS.indexOf("<|begin_of_text|>"));
  file.flag("tokenizer.ggml.add_bos_token", false);
  if (template !== null) file.text("tokenizer.chat_template", template);
  addTensors(file);
  return file.bytes();
}

function addTensors(file: GgufWriter): void {
  const random = randomNumbers(SEED);
  const matrix = (rows: number, columns: number, scaleOf: (row: number) => number = () => 1): Float32Array =>
    Float32Array.from({ length: rows * columns }, (_, place) => {
      return (random() / Math.sqrt(columns)) * scaleOf(Math.floor(place / columns));
    });
  const ones = (): Float32Array => new Float32Array(WIDTH).fill(1);
  const isPrintable = (row: number): boolean => row >= FIRST_PRINTABLE && row <= LAST_PRINTABLE;
  file.tensor("token_embd.weight", [WIDTH, VOCABULARY], matrix(VOCABULARY, WIDTH));
  file.tensor("output_norm.weight", [WIDTH], ones());
  file.tensor(
    "output.weight",
    [WIDTH, VOCABULARY],
    matrix(VOCABULARY, WIDTH, (row) => (isPrintable(row) ? 4 : 0)),
  );
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = (name: string): string => `blk.${layer}.${name}.weight`;
    file.tensor(at("attn_norm"), [WIDTH], ones());
    file.tensor(at("ffn_norm"), [WIDTH], ones());
    for (const name of ["attn_q", "attn_k", "attn_v", "attn_output"])
      file.tensor(at(name), [WIDTH, WIDTH], matrix(WIDTH, WIDTH));
    for (const name of ["ffn_gate", "ffn_up"])
      file.tensor(at(name), [WIDTH, FEED_FORWARD], matrix(FEED_FORWARD, WIDTH));
    file.tensor(at("ffn_down"), [FEED_FORWARD, WIDTH], matrix(WIDTH, FEED_FORWARD));
  }
}

/**
 * The letter that stands for each byte in a vocabulary of bytes: itself if it is printable, otherwise one above U+0100.
 * Source: the tokenizer of GPT-2.
 */
function byteLetters(): readonly string[] {
  const isPlain = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  let next = 0x100;
  return Array.from({ length: BYTES }, (_, byte) => String.fromCodePoint(isPlain(byte) ? byte : next++));
}

const [, , target] = process.argv;
if (import.meta.main && target !== undefined) writeFileSync(target, tinyLanguageModel());
