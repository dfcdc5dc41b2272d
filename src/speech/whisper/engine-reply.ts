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
const WORDS_OF_A_LOOP = 4;
const REPETITIONS_MAX = 3;
/**
 * The engine rounds the ends of segments; an end further beyond the sound is one that it did not hear. With people's
 * voices 700 ms and 1500 ms found no more errors, and asked for a whole window more often.
 */
const BEYOND_SOUND_MS_MAX = 1900;
/** Where a model tells no end, the engine puts that of its longest window, which tells nothing. */
const END_OF_WINDOW_MS = 30_000;

/**
 * Whether a shortened window is likely to have misled the engine: text faster than speech, text that goes round in
 * circles, a segment that is told twice, one that ends after the sound, much doubt, or no text at all of a sound that
 * is loud.
 */
export function looksWrong({ segments }: Heard, { seconds, isLoud }: HeardSound): boolean {
  const last = segments.at(-1);
  if (last === undefined) return isLoud;
  const text = segments.map((segment) => segment.text).join("");
  return (
    text.trim().length > CHARACTERS_PER_SECOND_MAX * Math.max(1, seconds) ||
    logProbability(segments) < GUESSED_LOG_PROBABILITY ||
    endsBeyond(last, seconds) ||
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
  const text = plainText(segments.map((segment) => segment.text).join(""));
  return text !== "" && plainText(prompt).endsWith(text);
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

function goesRound(text: string): boolean {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const counts = new Map<string, number>();
  for (let place = 0; place + WORDS_OF_A_LOOP <= words.length; place += 1) {
    const phrase = words.slice(place, place + WORDS_OF_A_LOOP).join(" ");
    const count = (counts.get(phrase) ?? 0) + 1;
    if (count > REPETITIONS_MAX) return true;
    counts.set(phrase, count);
  }
  return false;
}
