import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type ModelSizes, ModelWriter, melCentreHz } from "../../fixture-model/model-writer.ts";

/**
 * A speech model of the dimensions of base.en, the model that is used unasked, whose weights are random, but for a few:
 * it says four words a second for as long as a tone is heard, so that writing costs what it would with real weights.
 * Computing takes as long whatever the weights are; the words mean nothing.
 *
 * Random weights are so small that they do not disturb the others. The encoder marks where the tone is; a head of the
 * decoder's first layer finds the mean time of these places, half of what was heard; from there on the end of the text
 * wins over the word that each position stands for.
 */
export const TONE_HZ = melCentreHz(28, 80);
export const WORDS_PER_SECOND = 4;

const TONE_BIN = 28;
const SIZES = {
  vocabulary: 51_864,
  audioPositions: 1500,
  audioState: 512,
  audioHeads: 8,
  audioLayers: 6,
  textPositions: 448,
  textState: 512,
  textHeads: 8,
  textLayers: 6,
  melBins: 80,
} as const satisfies ModelSizes;

const STATE = SIZES.textState;
const HEAD_STATE = STATE / SIZES.textHeads;
const TAPS = 3;
const END_OF_TEXT = 50_256;
/** Tokens 0 to 255 are the bytes; the words follow. */
const FIRST_WORD = 256;
/** The largest number of tokens of a window. */
const WORDS = 220;

/**
 * Places in the state: the tone, its second measure, time, the end of the text; the words; two large numbers that rule
 * the variance.
 */
const TONE = 0;
const SECOND_MEASURE = 1;
const TIME = 2;
const END = 3;
const FIRST_WORD_PLACE = 8;
const ANCHORS = [STATE - 2, STATE - 1] as const;

const RANDOM_MAX = 0.001;
const ENCODER_ANCHOR = 100;
const DECODER_ANCHOR = 2000;
/** How steeply activity grows with how far the tone stands out, and between which two thresholds. */
const STEEPNESS = 8;
const THRESHOLDS = [0.4, 0.7] as const;
const FULL_ACTIVITY = STEEPNESS * (THRESHOLDS[1] - THRESHOLDS[0]);
const SHARPNESS = 15;
const WORD_WORTH = 3;
const END_SLOPE = 2;
const LOGIT_SCALE = 10;
const WINDOW_SECONDS = 30;

/** Writes the model file; takes seconds. */
export async function writeTimedModel(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, timedModel());
}

function timedModel(): Buffer {
  const bytes = Array.from({ length: FIRST_WORD }, (_, byte) => Uint8Array.of(byte));
  const words = Array.from({ length: WORDS }, (_, index) => Buffer.from(` ${wordOf(index)}`));
  const writer = new ModelWriter(SIZES, "f16", [...bytes, ...words]);
  writeEncoder(writer);
  writeDecoder(writer);
  return writer.bytes();
}

/** Three letters, another three for each number. */
function wordOf(index: number): string {
  const consonants = "bdfgklmnprst";
  const place = index % (consonants.length * 5);
  return `${consonants[place % consonants.length]}${"aeiou"[Math.floor(place / consonants.length)]}${consonants[Math.floor(index / (consonants.length * 5))]}`;
}

function writeEncoder(writer: ModelWriter): void {
  const position = new Float32Array(SIZES.audioPositions * STATE);
  for (let index = 0; index < SIZES.audioPositions; index += 1) {
    anchor(position, index, ENCODER_ANCHOR);
    position[index * STATE + TIME] = index / SIZES.audioPositions;
  }
  writer.tensor("encoder.positional_embedding", [STATE, SIZES.audioPositions], position);
  writeToneMeasure(writer);
  writeNorm(writer, "encoder.ln_post", anchoredScale(ENCODER_ANCHOR));
  for (let layer = 0; layer < SIZES.audioLayers; layer += 1) {
    writeAttention(writer, `encoder.blocks.${layer}.attn`);
    writeMlp(writer, `encoder.blocks.${layer}`);
  }
}

/**
 * How far the tone's bin stands above the mean of all: the difference of two measures, beyond which it does not grow.
 */
function writeToneMeasure(writer: ModelWriter): void {
  const first = random(STATE * SIZES.melBins * TAPS);
  const bias = new Float32Array(STATE);
  for (const [index, channel] of [TONE, SECOND_MEASURE].entries()) {
    bias[channel] = -STEEPNESS * (THRESHOLDS[index] ?? 0);
    for (let bin = 0; bin < SIZES.melBins; bin += 1) {
      const distance = Math.abs(bin - TONE_BIN);
      const share = (distance === 0 ? 1 / 2 : distance === 1 ? 1 / 4 : 0) - 1 / SIZES.melBins;
      first.fill(
        (STEEPNESS * share) / TAPS,
        (channel * SIZES.melBins + bin) * TAPS,
        (channel * SIZES.melBins + bin + 1) * TAPS,
      );
    }
  }
  writer.weights("encoder.conv1.weight", [TAPS, SIZES.melBins, STATE], first);
  writer.tensor("encoder.conv1.bias", [1, STATE], bias);
  const second = random(STATE * STATE * TAPS);
  for (const place of [TONE, TIME, END]) second.fill(0, place * STATE * TAPS, (place + 1) * STATE * TAPS);
  for (const [tap, share] of [1 / 4, 1 / 2, 1 / 4].entries()) {
    second[(TONE * STATE + TONE) * TAPS + tap] = share;
    second[(TONE * STATE + SECOND_MEASURE) * TAPS + tap] = -share;
  }
  writer.weights("encoder.conv2.weight", [TAPS, STATE, STATE], second);
  writer.tensor("encoder.conv2.bias", [1, STATE], new Float32Array(STATE));
}

function writeDecoder(writer: ModelWriter): void {
  const position = new Float32Array(SIZES.textPositions * STATE);
  for (let index = 0; index < SIZES.textPositions; index += 1) {
    anchor(position, index, DECODER_ANCHOR);
    position[index * STATE + END] = WORD_WORTH + END_SLOPE * (index - 1);
    if (index < WORDS) position[index * STATE + FIRST_WORD_PLACE + index] = WORD_WORTH;
  }
  writer.tensor("decoder.positional_embedding", [STATE, SIZES.textPositions], position);
  const tokens = random(SIZES.vocabulary * STATE);
  const say = (token: number, place: number): void => {
    tokens.fill(0, token * STATE, (token + 1) * STATE);
    tokens[token * STATE + place] = 1;
  };
  say(END_OF_TEXT, END);
  for (let word = 0; word < WORDS; word += 1) say(FIRST_WORD + word, FIRST_WORD_PLACE + word);
  writer.weights("decoder.token_embedding.weight", [STATE, SIZES.vocabulary], tokens);
  for (let layer = 0; layer < SIZES.textLayers; layer += 1) {
    writeAttention(writer, `decoder.blocks.${layer}.attn`);
    writeAttention(writer, `decoder.blocks.${layer}.cross_attn`, layer === 0);
    writeMlp(writer, `decoder.blocks.${layer}`);
  }
  const spoken = [END, ...Array.from({ length: WORDS }, (_, word) => FIRST_WORD_PLACE + word)];
  writeNorm(writer, "decoder.ln", LOGIT_SCALE * anchoredScale(DECODER_ANCHOR), spoken);
}

/**
 * `isWatch`: its first head looks at the places of the tone, and makes of their mean time a reason against the end of
 * the text.
 */
function writeAttention(writer: ModelWriter, name: string, isWatch = false): void {
  const [query, key, value, out] = Array.from({ length: 4 }, () => random(STATE * STATE));
  if (query === undefined || key === undefined || value === undefined || out === undefined) return;
  const queryBias = new Float32Array(STATE);
  if (isWatch) {
    queryBias[0] = 1;
    only(query, 0, []);
    only(key, 0, [[TONE, (SHARPNESS * Math.sqrt(HEAD_STATE)) / FULL_ACTIVITY]]);
    only(value, 1, [[TIME, 1]]);
    only(out, END, [[1, -END_SLOPE * WORDS_PER_SECOND * 2 * WINDOW_SECONDS]]);
  }
  writeNorm(writer, `${name}_ln`, 1);
  writer.weights(`${name}.query.weight`, [STATE, STATE], query);
  writer.tensor(`${name}.query.bias`, [STATE], queryBias);
  writer.weights(`${name}.key.weight`, [STATE, STATE], key);
  writer.weights(`${name}.value.weight`, [STATE, STATE], value);
  writer.tensor(`${name}.value.bias`, [STATE], new Float32Array(STATE));
  writer.weights(`${name}.out.weight`, [STATE, STATE], out);
  writer.tensor(`${name}.out.bias`, [STATE], new Float32Array(STATE));
}

function writeMlp(writer: ModelWriter, name: string): void {
  writeNorm(writer, `${name}.mlp_ln`, 1);
  writer.weights(`${name}.mlp.0.weight`, [STATE, 4 * STATE], random(4 * STATE * STATE));
  writer.tensor(`${name}.mlp.0.bias`, [4 * STATE], new Float32Array(4 * STATE));
  writer.weights(`${name}.mlp.2.weight`, [4 * STATE, STATE], random(4 * STATE * STATE));
  writer.tensor(`${name}.mlp.2.bias`, [STATE], new Float32Array(STATE));
}

/** `places`: what comes through; all of the state where left out. */
function writeNorm(writer: ModelWriter, name: string, scale: number, places?: readonly number[]): void {
  const scales = Float32Array.from({ length: STATE }, (_, place) => (places?.includes(place) === false ? 0 : scale));
  writer.tensor(`${name}.weight`, [STATE], scales);
  writer.tensor(`${name}.bias`, [STATE], new Float32Array(STATE));
}

/** The scale that undoes a layer norm whose variance the anchors rule. */
function anchoredScale(size: number): number {
  return size * Math.sqrt(2 / STATE);
}

function anchor(values: Float32Array, row: number, size: number): void {
  values[row * STATE + ANCHORS[0]] = size;
  values[row * STATE + ANCHORS[1]] = -size;
}

/** Makes a row of a matrix hold these entries, and nothing else. */
function only(matrix: Float32Array, row: number, entries: readonly (readonly [column: number, value: number])[]): void {
  matrix.fill(0, row * STATE, (row + 1) * STATE);
  for (const [column, value] of entries) matrix[row * STATE + column] = value;
}

let state = 1;

/** Deterministic pseudo-random numbers. */
function random(length: number): Float32Array {
  const values = new Float32Array(length);
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    values[index] = (state / 2 ** 31 - 1) * RANDOM_MAX;
  }
  return values;
}
