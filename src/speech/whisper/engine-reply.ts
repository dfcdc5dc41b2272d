import { isRecord } from "../../base/json/records.ts";

export interface HeardSegment {
  /** As the engine wrote it: languages that put spaces between words begin it with one. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Mean logarithm of the tokens' probabilities: how sure the engine is. */
  readonly logProbability: number;
}

/** What the engine made of one piece of sound. */
export interface Heard {
  readonly segments: readonly HeardSegment[];
  /** In English, as the engine says it, such as `german`; null where it does not. */
  readonly languageName: string | null;
}

/** Reads a reply of the form `verbose_json`. Null where it is none. */
export function readReply(body: unknown): Heard | null {
  if (!isRecord(body) || !Array.isArray(body["segments"])) return null;
  const language = body["language"];
  return {
    segments: body["segments"].filter(isRecord).flatMap(readSegment),
    languageName: typeof language === "string" ? language : null,
  };
}

function readSegment(segment: Record<string, unknown>): HeardSegment[] {
  const { text } = segment;
  if (typeof text !== "string" || text.trim() === "") return [];
  const startMs = milliseconds(segment["start"]);
  return [
    {
      text,
      startMs,
      endMs: Math.max(startMs, milliseconds(segment["end"])),
      logProbability: typeof segment["avg_logprob"] === "number" ? segment["avg_logprob"] : 0,
    },
  ];
}

function milliseconds(seconds: unknown): number {
  return typeof seconds === "number" && seconds > 0 ? Math.round(seconds * 1000) : 0;
}

/** What was asked, as far as it tells whether the answer can be right. */
export interface HeardSound {
  readonly seconds: number;
  readonly isLoud: boolean;
}

/** Nobody speaks faster. */
const CHARACTERS_PER_SECOND_MAX = 25;
/** Below this the words are as good as guessed. */
const GUESSED_LOG_PROBABILITY = -1;
/** Below this a second answer is worth its time. */
const SURE_LOG_PROBABILITY = -0.3;
/** Above this the words of one segment are right, even where it ends after the sound. */
const CERTAIN_LOG_PROBABILITY = -0.1;
const WORDS_OF_A_LOOP = 4;
const REPETITIONS_MAX = 3;
/** What is told again and again has at least so many words: people do say one or two twice. */
const WORDS_OF_A_REPEATED_PHRASE = 3;
/**
 * The engine rounds the ends of segments; an end further beyond the sound is one that it did not hear. With people's
 * voices 700 ms and 1500 ms found no more errors, and asked for a whole window more often.
 */
const BEYOND_SOUND_MS_MAX = 1900;
/** Where a model tells no end, the engine puts that of its longest window, which tells nothing. */
const END_OF_WINDOW_MS = 30_000;

/**
 * The answer as it was said: where the engine tells one phrase again and again, faster than anybody speaks, that phrase
 * once. Shortened windows bring this about, and a whole window was found to give the same phrase.
 */
export function toldOnce(heard: Heard, { seconds }: Pick<HeardSound, "seconds">): Heard {
  const [first] = heard.segments;
  const text = textOf(heard.segments);
  if (first === undefined || !isTooFast(text, seconds)) return heard;
  const phrase = repeatedPhrase(text);
  if (phrase === null || isTooFast(phrase, seconds)) return heard;
  return { ...heard, segments: [{ ...first, text: ` ${phrase}`, endMs: Math.round(seconds * 1000) }] };
}

/**
 * Whether a shortened window is likely to have misled the engine: text faster than speech, text that goes round in
 * circles, a segment that is told twice, one that ends after the sound, much doubt, or no text at all of a sound that
 * is loud.
 */
export function looksWrong({ segments }: Heard, { seconds, isLoud }: HeardSound): boolean {
  const last = segments.at(-1);
  if (last === undefined) return isLoud;
  const text = textOf(segments);
  const isCertain = segments.length === 1 && last.logProbability > CERTAIN_LOG_PROBABILITY;
  return (
    isTooFast(text, seconds) ||
    logProbability(segments) < GUESSED_LOG_PROBABILITY ||
    (endsBeyond(last, seconds) && !isCertain) ||
    segments.some((segment, index) => isSameText(segment.text, segments[index + 1]?.text)) ||
    goesRound(text)
  );
}

/** Whether the answer may be right, and the engine doubts it. */
export function isUnsure({ segments }: Heard): boolean {
  return segments.length > 0 && logProbability(segments) < SURE_LOG_PROBABILITY;
}

/** The answer that the engine doubts less; the first of equals. One without words is never taken for one with words. */
export function surerOf(first: Heard, second: Heard): Heard {
  if (second.segments.length === 0) return first;
  return logProbability(second.segments) > logProbability(first.segments) ? second : first;
}

/** The mean of the segments'. */
function logProbability(segments: readonly HeardSegment[]): number {
  return segments.reduce((sum, segment) => sum + segment.logProbability, 0) / segments.length;
}

/** Whether the engine only told the end of what it was given as said before. */
export function repeatsPrompt({ segments }: Heard, prompt: string): boolean {
  const text = plainText(textOf(segments));
  return text !== "" && plainText(prompt).endsWith(text);
}

function textOf(segments: readonly HeardSegment[]): string {
  return segments.map((segment) => segment.text).join("");
}

function isTooFast(text: string, seconds: number): boolean {
  return text.trim().length > CHARACTERS_PER_SECOND_MAX * Math.max(1, seconds);
}

function endsBeyond({ endMs }: HeardSegment, seconds: number): boolean {
  return endMs > seconds * 1000 + BEYOND_SOUND_MS_MAX && endMs < END_OF_WINDOW_MS;
}

/** Whether two neighbours say the same, however they are written. */
function isSameText(text: string, next: string | undefined): boolean {
  return next !== undefined && plainText(text) !== "" && plainText(text) === plainText(next);
}

function plainText(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** The shortest phrase of which a text is made, whose last repetition may be broken off; null where there is none. */
function repeatedPhrase(text: string): string | null {
  const words = wordsOf(text);
  const plain = words.map(plainText);
  for (let length = 1; length * 2 <= words.length; length += 1)
    if (plain.every((word, place) => continues(word, plain[place % length], place === plain.length - 1)))
      return length < WORDS_OF_A_REPEATED_PHRASE ? null : words.slice(0, length).join(" ");
  return null;
}

function continues(word: string, expected: string | undefined, isLast: boolean): boolean {
  return word === expected || (isLast && expected?.startsWith(word) === true);
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function goesRound(text: string): boolean {
  const words = wordsOf(text.toLowerCase());
  const counts = new Map<string, number>();
  for (let place = 0; place + WORDS_OF_A_LOOP <= words.length; place += 1) {
    const phrase = words.slice(place, place + WORDS_OF_A_LOOP).join(" ");
    const count = (counts.get(phrase) ?? 0) + 1;
    if (count > REPETITIONS_MAX) return true;
    counts.set(phrase, count);
  }
  return false;
}
