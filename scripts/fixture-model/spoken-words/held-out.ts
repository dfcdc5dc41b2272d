import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { wavHeader } from "@antiphon/speech/audio/wav.ts";
import spoken from "./words.json" with { type: "json" };

/** A test utterance. The training data has neither its sentence, voice, speed nor pitch. */
export interface HeldOut {
  readonly words: readonly string[];
  /** An espeak-ng voice, such as `en-us+f4`. */
  readonly voice: string;
  readonly wordsPerMinute: number;
  readonly pitch: number;
  readonly condition: Condition;
}

/** Loudness, silence and noise of the recording. */
export const CONDITIONS = ["clean", "quiet", "silence around", "noise 20 dB", "noise 10 dB"] as const;
export type Condition = (typeof CONDITIONS)[number];

const LISTS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(spoken.lists));
export const SPOKEN_WORDS: readonly string[] = [
  ...new Set([
    ...[...LISTS.values()].flat(),
    ...spoken.sentences.flatMap((sentence) => sentence.split(" ")).filter((word) => !word.startsWith("{")),
  ]),
].toSorted();

/** Training uses speeds and pitches in steps of 10. This offset lies between them. */
const UNTRAINED_OFFSET = 5;
const DIGITS_MAX = 7;
const WORDS_MAX = 6;

/** Returns a generator of numbers between 0 and 1, fixed by the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns test utterances: a third each of grammar sentences, digits, and random words. The conditions alternate. */
export function heldOutUtterances(count: number, seed: number): HeldOut[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, index) => ({
    words: heldOutWords(index, random),
    voice: `${oneOf(spoken.accents, random)}+${oneOf(spoken.voices.heldOut, random)}`,
    wordsPerMinute: stepOf(spoken.wordsPerMinute, random),
    pitch: stepOf(spoken.pitch, random),
    condition: oneOf(CONDITIONS, random),
  }));
}

function heldOutWords(index: number, random: () => number): string[] {
  for (;;) {
    const words = wordsOf(index, random);
    if (isHeldOut(words)) return words;
  }
}

function wordsOf(index: number, random: () => number): string[] {
  if (index % 3 === 0) return several(LISTS.get("digit") ?? [], 3 + Math.floor(random() * (DIGITS_MAX - 2)), random);
  if (index % 3 === 1) return several(SPOKEN_WORDS, 3 + Math.floor(random() * (WORDS_MAX - 2)), random);
  return oneOf(spoken.sentences, random)
    .split(" ")
    .map((word) => (word.startsWith("{") ? oneOf(LISTS.get(word.slice(1, -1)) ?? [], random) : word));
}

/**
 * True if training leaves the sentence out: one in ten of those with three words or more. sentences.py has the same
 * rule.
 */
export function isHeldOut(words: readonly string[]): boolean {
  const [first = 0] = createHash("sha256").update(words.join(" ")).digest();
  return words.length > 2 && first % 10 === 0;
}

function several(words: readonly string[], count: number, random: () => number): string[] {
  return Array.from({ length: count }, () => oneOf(words, random));
}

function oneOf<T>(choices: readonly T[], random: () => number): T {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new RangeError("the list is empty");
  return chosen;
}

function stepOf({ min, max, step }: { min: number; max: number; step: number }, random: () => number): number {
  return min - UNTRAINED_OFFSET + step * Math.floor(random() * ((max - min) / step + 1));
}

const ESPEAK = "espeak-ng";
const ESPEAK_RATE_HZ = 22_050;
const WAV_HEADER_BYTES = 44;

/** True if espeak-ng is installed. */
export async function canSpeak(): Promise<boolean> {
  return await output(["--version"]).then(
    () => true,
    () => false,
  );
}

/** Returns the utterance as a WAV file. Rejects if espeak-ng is not installed. */
export async function speak(
  { words, voice, wordsPerMinute, pitch, condition }: HeldOut,
  seed: number,
): Promise<Uint8Array> {
  const manner = ["-v", voice, "-s", String(wordsPerMinute), "-p", String(pitch)];
  const file = await output([...manner, "--stdout", words.join(" ")]);
  const samples = Float64Array.from({ length: (file.length - WAV_HEADER_BYTES) >> 1 }, (_, index) =>
    file.readInt16LE(WAV_HEADER_BYTES + 2 * index),
  );
  const heard = inCondition(samples, condition, randomFrom(seed));
  const bytes = Int16Array.from(heard, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))));
  return Buffer.concat([wavHeader(ESPEAK_RATE_HZ, bytes.byteLength), new Uint8Array(bytes.buffer)]);
}

function inCondition(samples: Float64Array, condition: Condition, random: () => number): Float64Array {
  switch (condition) {
    case "clean":
      return samples;
    case "quiet":
      return samples.map((sample) => sample / 10);
    case "silence around":
      return Float64Array.from([...silence(random), ...samples, ...silence(random)]);
    case "noise 20 dB":
      return noisy(samples, 10, random);
    case "noise 10 dB":
      return noisy(samples, Math.sqrt(10), random);
  }
}

/** Returns up to two seconds of silence. */
function silence(random: () => number): Float64Array {
  return new Float64Array(Math.floor(random() * 2 * ESPEAK_RATE_HZ));
}

/** Adds white noise. `ratio` is the root mean square of the speech divided by that of the noise. */
function noisy(samples: Float64Array, ratio: number, random: () => number): Float64Array {
  const loud = samples.filter((sample) => Math.abs(sample) > 100);
  const level = Math.sqrt(loud.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, loud.length)) / ratio;
  return samples.map((sample) => sample + level * gaussian(random));
}

/** Returns a random number with a nearly normal distribution of variance 1. */
function gaussian(random: () => number): number {
  return Array.from({ length: 12 }, random).reduce((sum, value) => sum + value, -6);
}

async function output(args: readonly string[]): Promise<Buffer> {
  const child = spawn(ESPEAK, args, { stdio: ["ignore", "pipe", "ignore"] });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once("error", reject);
  child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`espeak-ng exited with ${code}`))));
  const [chunks] = await Promise.all([child.stdout.toArray(), promise]);
  return Buffer.concat(chunks);
}

/** Counts the words to insert, delete or change to turn one text into the other. */
export function faults(said: readonly string[], heard: readonly string[]): number {
  let row = heard.map((_, index) => index + 1);
  for (const [index, word] of said.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, place) => {
      left = Math.min(above + 1, left + 1, diagonal + (heard[place] === word ? 0 : 1));
      diagonal = above;
      return left;
    });
  }
  return row.at(-1) ?? said.length;
}

/** Returns the words of a transcript. */
export function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
