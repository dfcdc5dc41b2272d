import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type ModelSizes, ModelWriter, melCentreHz, type WeightType } from "./model-writer.ts";

/**
 * A speech model whose weights are set by hand: ten sine tones are ten words. The engine runs it like any other model.
 * A window of sound gives the words whose tones are in it, each once, in order of time; a window without a tone gives "
 * Thank you.", as real models do.
 *
 * The encoder measures, for each word, how far the tone's mel bin stands out from the mean of all bins. The decoder
 * asks, with one head of cross-attention for each word, when that was; the earlier, the more it wants the word.
 * Self-attention takes back what was said already, and when nothing is left the end of the text wins.
 */
export const TONE_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"] as const;
export type ToneWord = (typeof TONE_WORDS)[number];

/** The model's text for silence. */
export const HALLUCINATION = "Thank you.";

const STATE = 64;
const HEADS = 16;
const HEAD_STATE = STATE / HEADS;
const MEL_BINS = 80;
const TEXT_POSITIONS = 448;
const WINDOW_POSITIONS = 1500;
const WORDS = TONE_WORDS.length;

/** The smallest vocabulary that the engine accepts. It fixes the ids of the special tokens. */
const VOCABULARY = 51_864;
const END_OF_TEXT = 50_256;
/** Tokens 0 to 255 are single bytes, because the engine looks some of them up. The words follow. */
const FIRST_WORD = 256;
const HALLUCINATION_TOKEN = FIRST_WORD + WORDS;

/** Indexes into the state. Words use 0 to 9, and their measure with the higher threshold 10 to 19. */
const END = 20;
const SILENCE = 21;
const TIME = 40;
/** Layer norm subtracts the mean. This element holds the negative sum of the others, so that the mean is zero. */
const BALANCE = 41;
/** Two large numbers that dominate the variance, so that layer norm nearly divides by a constant. */
const ANCHORS = [62, 63] as const;

const FIRST_BIN = 10;
const BINS_PER_WORD = 6;

/** Returns the frequency of a word's tone in hertz. */
export function toneHz(word: ToneWord): number {
  return melCentreHz(binOf(TONE_WORDS.indexOf(word)), MEL_BINS);
}

export interface ToneModelOptions {
  /** `f32` makes a file with which the engine exits at its first request. */
  readonly weights?: WeightType;
  /** Number of encoder positions of a full window. */
  readonly audioPositions?: number;
}

/** Returns the model file. */
export function toneWordsModel({ weights = "f16", audioPositions = WINDOW_POSITIONS }: ToneModelOptions = {}): Buffer {
  const sizes: ModelSizes = {
    vocabulary: VOCABULARY,
    audioPositions,
    audioState: STATE,
    audioHeads: 1,
    audioLayers: 1,
    textPositions: TEXT_POSITIONS,
    textState: STATE,
    textHeads: HEADS,
    textLayers: 1,
    melBins: MEL_BINS,
  };
  const writer = new ModelWriter(sizes, weights, vocabulary());
  writeEncoder(writer);
  writeDecoder(writer);
  return writer.bytes();
}

function vocabulary(): Uint8Array[] {
  const bytes = Array.from({ length: FIRST_WORD }, (_, byte) => Uint8Array.of(byte));
  return [...bytes, ...[...TONE_WORDS, HALLUCINATION].map((word) => Buffer.from(` ${word}`))];
}

function binOf(word: number): number {
  return FIRST_BIN + BINS_PER_WORD * word;
}

const ENCODER_ANCHOR = 100;
/** Growth of activity per unit by which a tone stands out of the engine's normalised spectrum. */
const STEEPNESS = 8;
const LOW_THRESHOLD = 0.4;
const HIGH_THRESHOLD = 0.7;
/** The activity of a clear tone: the difference of the two measures, which is also the maximum. */
const FULL_ACTIVITY = STEEPNESS * (HIGH_THRESHOLD - LOW_THRESHOLD);
const TAPS = 3;

function writeEncoder(writer: ModelWriter): void {
  const { audioPositions } = writer.sizes;
  const position = new Vectors(audioPositions);
  for (let index = 0; index < audioPositions; index += 1) {
    position.anchor(index, ENCODER_ANCHOR);
    position.set(index, TIME, index / WINDOW_POSITIONS);
    position.set(index, BALANCE, -index / WINDOW_POSITIONS);
  }
  writer.tensor("encoder.positional_embedding", [STATE, audioPositions], position.values);
  writeMeasure(writer);
  writeDifference(writer);
  writeLayerNorm(writer, "encoder.ln_post", anchoredScale(ENCODER_ANCHOR));
  writeAttention(writer, "encoder.blocks.0.attn", {});
  writeIdleMlp(writer, "encoder.blocks.0");
}

/**
 * The first convolution: by how much a word's bin and its neighbours exceed the mean of all bins plus each threshold.
 */
function writeMeasure(writer: ModelWriter): void {
  const values = new Float32Array(STATE * MEL_BINS * TAPS);
  const bias = new Float32Array(STATE);
  for (let word = 0; word < WORDS; word += 1) {
    for (const [channel, threshold] of [[word, LOW_THRESHOLD] as const, [word + WORDS, HIGH_THRESHOLD] as const]) {
      bias[channel] = -STEEPNESS * threshold;
      for (let bin = 0; bin < MEL_BINS; bin += 1)
        for (let tap = 0; tap < TAPS; tap += 1)
          values[(channel * MEL_BINS + bin) * TAPS + tap] = (STEEPNESS * binShare(bin - binOf(word))) / TAPS;
    }
  }
  writer.weights("encoder.conv1.weight", [TAPS, MEL_BINS, STATE], values);
  writer.tensor("encoder.conv1.bias", [1, STATE], bias);
}

function binShare(distance: number): number {
  const centre = distance === 0 ? 1 / 2 : 0;
  const neighbour = Math.abs(distance) === 1 ? 1 / 4 : 0;
  return centre + neighbour - 1 / MEL_BINS;
}

/** The second convolution: the difference of the two measures, smoothed over three moments. */
function writeDifference(writer: ModelWriter): void {
  const values = new Float32Array(STATE * STATE * TAPS);
  for (let word = 0; word < WORDS; word += 1)
    for (const [tap, share] of [1 / 4, 1 / 2, 1 / 4].entries()) {
      values[(word * STATE + word) * TAPS + tap] = share;
      values[(word * STATE + word + WORDS) * TAPS + tap] = -share;
    }
  writer.weights("encoder.conv2.weight", [TAPS, STATE, STATE], values);
  writer.tensor("encoder.conv2.bias", [1, STATE], new Float32Array(STATE));
}

const DECODER_ANCHOR = 2000;
/** Score of the end of the text. A word that is still to be said scores more. */
const END_WORTH = 1.5;
/** Score of the silence text. The engine never starts with the end of a text, so for silence this text comes next. */
const SILENCE_WORTH = 1;
const PRESENCE_WORTH = 33;
const TIME_WORTH = -30;
/** Outweighs every score, even after self-attention averages it. */
const SAID_WORTH = -630;
/** How sharply a head attends to the positions of its tone. */
const SHARPNESS = 15;
const LOGIT_SCALE = 10;

function writeDecoder(writer: ModelWriter): void {
  const position = new Vectors(TEXT_POSITIONS);
  for (let index = 0; index < TEXT_POSITIONS; index += 1) {
    position.anchor(index, DECODER_ANCHOR);
    position.set(index, END, END_WORTH);
    position.set(index, SILENCE, SILENCE_WORTH);
    position.set(index, BALANCE, -(END_WORTH + SILENCE_WORTH));
  }
  writer.tensor("decoder.positional_embedding", [STATE, TEXT_POSITIONS], position.values);
  writeTokens(writer);
  writeMemoryOfWords(writer);
  writeSearchForWords(writer);
  writeIdleMlp(writer, "decoder.blocks.0");
  const spoken = [...wordPlaces(), END, SILENCE];
  writeLayerNorm(writer, "decoder.ln", LOGIT_SCALE * anchoredScale(DECODER_ANCHOR), spoken);
}

/** Each token of the model's output reads and writes one element of the state. */
function writeTokens(writer: ModelWriter): void {
  const tokens = new Vectors(VOCABULARY);
  const places = wordPlaces().map((word) => [FIRST_WORD + word, word] as const);
  for (const [token, place] of [...places, [END_OF_TEXT, END] as const, [HALLUCINATION_TOKEN, SILENCE] as const]) {
    tokens.set(token, place, 1);
    tokens.set(token, BALANCE, -1);
  }
  writer.weights("decoder.token_embedding.weight", [STATE, VOCABULARY], tokens.values);
}

/** Uniform self-attention: the mean of the words said so far lowers their scores. */
function writeMemoryOfWords(writer: ModelWriter): void {
  const places = [...wordPlaces(), SILENCE];
  writeLayerNorm(writer, "decoder.blocks.0.attn_ln", anchoredScale(DECODER_ANCHOR));
  writeAttention(writer, "decoder.blocks.0.attn", {
    value: places.map((place) => [place, place, 1]),
    valueBias: [[SILENCE, -SILENCE_WORTH]], // Every position has this value, whether the text was said or not.
    out: places.map((place) => [place, place, SAID_WORTH]),
    ownNorm: true,
  });
}

/** Cross-attention with one head per word: finds whether its tone is there, and when. */
function writeSearchForWords(writer: ModelWriter): void {
  const key = (SHARPNESS * Math.sqrt(HEAD_STATE)) / FULL_ACTIVITY;
  const words = wordPlaces();
  writeAttention(writer, "decoder.blocks.0.cross_attn", {
    queryBias: words.map((word) => [word * HEAD_STATE, 1]),
    key: words.map((word) => [word * HEAD_STATE, word, key]),
    value: words.flatMap((word) => [
      [word * HEAD_STATE, word, 1 / FULL_ACTIVITY] as const,
      [word * HEAD_STATE + 1, TIME, 1] as const,
    ]),
    out: words.flatMap((word) => [
      [word, word * HEAD_STATE, PRESENCE_WORTH] as const,
      [word, word * HEAD_STATE + 1, TIME_WORTH] as const,
    ]),
  });
}

function wordPlaces(): number[] {
  return Array.from({ length: WORDS }, (_, word) => word);
}

/** A matrix whose rows have the size of the state. */
class Vectors {
  readonly values: Float32Array;

  constructor(rows: number) {
    this.values = new Float32Array(rows * STATE);
  }

  set(row: number, place: number, value: number): void {
    this.values[row * STATE + place] = value;
  }

  anchor(row: number, value: number): void {
    this.set(row, ANCHORS[0], value);
    this.set(row, ANCHORS[1], -value);
  }
}

/** The scale that undoes a layer norm whose variance the anchors dominate. */
function anchoredScale(anchor: number): number {
  return anchor * Math.sqrt(2 / STATE);
}

/** Row, column, value. */
type Entry = readonly [number, number, number];
type BiasEntry = readonly [number, number];

interface Attention {
  readonly queryBias?: readonly BiasEntry[];
  readonly key?: readonly Entry[];
  readonly value?: readonly Entry[];
  readonly valueBias?: readonly BiasEntry[];
  readonly out?: readonly Entry[];
  /** True if the caller writes the layer norm itself. */
  readonly ownNorm?: boolean;
}

function writeAttention(writer: ModelWriter, name: string, attention: Attention): void {
  if (attention.ownNorm !== true) writeLayerNorm(writer, `${name}_ln`, 1);
  writer.weights(`${name}.query.weight`, [STATE, STATE], matrix([]));
  writer.tensor(`${name}.query.bias`, [STATE], vector(attention.queryBias ?? []));
  writer.weights(`${name}.key.weight`, [STATE, STATE], matrix(attention.key ?? []));
  writer.weights(`${name}.value.weight`, [STATE, STATE], matrix(attention.value ?? []));
  writer.tensor(`${name}.value.bias`, [STATE], vector(attention.valueBias ?? []));
  writer.weights(`${name}.out.weight`, [STATE, STATE], matrix(attention.out ?? []));
  writer.tensor(`${name}.out.bias`, [STATE], vector([]));
}

function writeIdleMlp(writer: ModelWriter, name: string): void {
  writeLayerNorm(writer, `${name}.mlp_ln`, 1);
  writer.weights(`${name}.mlp.0.weight`, [STATE, 4 * STATE], new Float32Array(4 * STATE * STATE));
  writer.tensor(`${name}.mlp.0.bias`, [4 * STATE], new Float32Array(4 * STATE));
  writer.weights(`${name}.mlp.2.weight`, [4 * STATE, STATE], new Float32Array(4 * STATE * STATE));
  writer.tensor(`${name}.mlp.2.bias`, [STATE], new Float32Array(STATE));
}

/** `places` lists the elements that pass through. All by default. */
function writeLayerNorm(writer: ModelWriter, name: string, scale: number, places?: readonly number[]): void {
  const scales = Float32Array.from({ length: STATE }, (_, place) => (places?.includes(place) === false ? 0 : scale));
  writer.tensor(`${name}.weight`, [STATE], scales);
  writer.tensor(`${name}.bias`, [STATE], new Float32Array(STATE));
}

function matrix(entries: readonly Entry[]): Float32Array {
  const values = new Float32Array(STATE * STATE);
  for (const [row, column, value] of entries) values[row * STATE + column] = value;
  return values;
}

function vector(entries: readonly BiasEntry[]): Float32Array {
  const values = new Float32Array(STATE);
  for (const [place, value] of entries) values[place] = value;
  return values;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { f32: { type: "boolean" } } });
  const [path] = positionals;
  if (path === undefined) throw new Error("Usage: node scripts/fixture-model/tone-words.ts FILE [--f32]");
  await writeFile(path, toneWordsModel({ weights: values.f32 === true ? "f32" : "f16" }));
}
