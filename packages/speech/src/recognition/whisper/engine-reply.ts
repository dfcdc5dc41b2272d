import { isRecord } from "@antiphon/base/json/records.ts";
import type { SegmentDetails, TranscriptToken } from "../speech-engine.ts";

export interface ReplySegment {
  /** As the engine wrote it. In languages with spaces between words it begins with a space. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Mean logarithm of the tokens' probabilities, as a measure of confidence. */
  readonly logProbability: number;
  /** Absent if the engine sends no tokens. */
  readonly details?: SegmentDetails;
}

/** The engine's answer for one piece of sound. */
export interface EngineReply {
  readonly segments: readonly ReplySegment[];
  /** The engine's English name of the language, such as `german`; null if it reports none. */
  readonly languageName: string | null;
}

/** Reads a reply in the format `verbose_json`; null if it has another format. */
export function readEngineReply(body: unknown): EngineReply | null {
  if (!isRecord(body) || !Array.isArray(body["segments"])) return null;
  const language = body["language"];
  return {
    segments: body["segments"].filter(isRecord).flatMap(readSegment),
    languageName: typeof language === "string" ? language : null,
  };
}

function readSegment(segment: Record<string, unknown>): ReplySegment[] {
  const { text } = segment;
  if (typeof text !== "string" || text.trim() === "") return [];
  const startMs = milliseconds(segment["start"]);
  const mean = typeof segment["avg_logprob"] === "number" ? segment["avg_logprob"] : 0;
  const details = readDetails(segment, mean);
  return [
    {
      text,
      startMs,
      endMs: Math.max(startMs, milliseconds(segment["end"])),
      logProbability: mean,
      ...(details === null ? {} : { details }),
    },
  ];
}

function readDetails(
  { tokens: ids, words, no_speech_prob }: Record<string, unknown>,
  mean: number,
): SegmentDetails | null {
  if (!Array.isArray(words) || !Array.isArray(ids)) return null;
  return {
    tokenIds: ids.filter((id) => typeof id === "number"),
    tokens: words.filter(isRecord).map(readToken),
    logProbability: mean,
    noSpeechProbability: typeof no_speech_prob === "number" ? no_speech_prob : 0,
  };
}

function readToken({ word, start, end, probability }: Record<string, unknown>): TranscriptToken {
  return {
    text: typeof word === "string" ? word : "",
    startMs: typeof start === "number" ? Math.round(start * 1000) : 0,
    endMs: typeof end === "number" ? Math.round(end * 1000) : 0,
    probability: typeof probability === "number" ? probability : 0,
  };
}

function milliseconds(seconds: unknown): number {
  return typeof seconds === "number" && seconds > 0 ? Math.round(seconds * 1000) : 0;
}

/** The properties of a sound that show whether an answer can be right. */
export interface AskedSound {
  readonly seconds: number;
  readonly isLoud: boolean;
}

/** Faster than anybody speaks. */
const CHARACTERS_PER_SECOND_MAX = 25;
/** Below this the text is little more than a guess. */
const GUESSED_LOG_PROBABILITY = -1;
/** Below this a second question is worth its time. */
const SURE_LOG_PROBABILITY = -0.3;
/** Above this the text of a single segment is right, even if the segment ends after the sound. */
const CERTAIN_LOG_PROBABILITY = -0.1;
const WORDS_OF_A_LOOP = 4;
const REPETITIONS_MAX = 3;
/** Shorter repeated phrases are kept, because people do repeat one or two words. */
const WORDS_OF_A_REPEATED_PHRASE = 3;
/**
 * The engine rounds the ends of segments; an end further beyond the sound is wrong. In tests with human voices, 700 ms
 * and 1500 ms found no more errors but caused more second questions.
 */
const BEYOND_SOUND_MS_MAX = 1900;
/** The engine's value for a segment without a known end, so it says nothing about the answer. */
const END_OF_WINDOW_MS = 30_000;

/**
 * Reduces a phrase that the engine repeats faster than anybody speaks to one occurrence. Shortened windows cause such
 * repetitions; a whole window gives the same phrase once.
 */
export function withoutRepetition(reply: EngineReply, { seconds }: Pick<AskedSound, "seconds">): EngineReply {
  const [first] = reply.segments;
  const text = segmentsText(reply.segments);
  if (first === undefined || !isTooFast(text, seconds)) return reply;
  const phrase = repeatedPhrase(text);
  if (phrase === null || isTooFast(phrase, seconds)) return reply;
  const { details: _details, ...plain } = first; // They belong to the repeated text.
  return { ...reply, segments: [{ ...plain, text: ` ${phrase}`, endMs: Math.round(seconds * 1000) }] };
}

/**
 * Whether a shortened window has probably misled the engine. The signs are text faster than speech, text that loops, a
 * repeated segment, a segment that ends after the sound, low confidence, or no text for a loud sound.
 */
export function looksWrong({ segments }: EngineReply, { seconds, isLoud }: AskedSound): boolean {
  const last = segments.at(-1);
  if (last === undefined) return isLoud;
  const text = segmentsText(segments);
  const isCertain = segments.length === 1 && last.logProbability > CERTAIN_LOG_PROBABILITY;
  return (
    isTooFast(text, seconds) ||
    logProbability(segments) < GUESSED_LOG_PROBABILITY ||
    (endsBeyond(last, seconds) && !isCertain) ||
    segments.some((segment, index) => isSameText(segment.text, segments[index + 1]?.text)) ||
    hasLoop(text)
  );
}

/** Whether the answer has low confidence. */
export function isUnsure({ segments }: EngineReply): boolean {
  return segments.length > 0 && logProbability(segments) < SURE_LOG_PROBABILITY;
}

/**
 * The answer with the higher confidence, or the first if they are equal. A second answer without words is never chosen.
 */
export function moreConfident(first: EngineReply, second: EngineReply): EngineReply {
  if (second.segments.length === 0) return first;
  return logProbability(second.segments) > logProbability(first.segments) ? second : first;
}

/** The mean over the segments. */
function logProbability(segments: readonly ReplySegment[]): number {
  return segments.reduce((sum, segment) => sum + segment.logProbability, 0) / segments.length;
}

/** Whether the answer only repeats the end of the prompt. */
export function repeatsPrompt({ segments }: EngineReply, prompt: string): boolean {
  const text = lettersAndDigits(segmentsText(segments));
  return text !== "" && lettersAndDigits(prompt).endsWith(text);
}

function segmentsText(segments: readonly ReplySegment[]): string {
  return segments.map((segment) => segment.text).join("");
}

function isTooFast(text: string, seconds: number): boolean {
  return text.trim().length > CHARACTERS_PER_SECOND_MAX * Math.max(1, seconds);
}

function endsBeyond({ endMs }: ReplySegment, seconds: number): boolean {
  return endMs > seconds * 1000 + BEYOND_SOUND_MS_MAX && endMs < END_OF_WINDOW_MS;
}

/** Whether two neighbouring segments have the same letters and digits. */
function isSameText(text: string, next: string | undefined): boolean {
  return next !== undefined && lettersAndDigits(text) !== "" && lettersAndDigits(text) === lettersAndDigits(next);
}

function lettersAndDigits(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** The shortest phrase whose repetition makes up the text, or null. The last occurrence may be cut off. */
function repeatedPhrase(text: string): string | null {
  const words = splitWords(text);
  const plain = words.map(lettersAndDigits);
  for (let length = 1; length * 2 <= words.length; length += 1)
    if (plain.every((word, place) => continues(word, plain[place % length], place === plain.length - 1)))
      return length < WORDS_OF_A_REPEATED_PHRASE ? null : words.slice(0, length).join(" ");
  return null;
}

function continues(word: string, expectedWord: string | undefined, isLast: boolean): boolean {
  return word === expectedWord || (isLast && expectedWord?.startsWith(word) === true);
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function hasLoop(text: string): boolean {
  const words = splitWords(text.toLowerCase());
  const counts = new Map<string, number>();
  for (let place = 0; place + WORDS_OF_A_LOOP <= words.length; place += 1) {
    const phrase = words.slice(place, place + WORDS_OF_A_LOOP).join(" ");
    const count = (counts.get(phrase) ?? 0) + 1;
    if (count > REPETITIONS_MAX) return true;
    counts.set(phrase, count);
  }
  return false;
}
