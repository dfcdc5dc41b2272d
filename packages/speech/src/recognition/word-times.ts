import type { TranscriptSegment, TranscriptToken } from "./speech-engine.ts";
import type { Stretch } from "./voiced-stretches.ts";

/** A word with its times in milliseconds. It has its punctuation and no blanks. */
export interface TimedWord extends Stretch {
  readonly text: string;
}

/** Languages that are written without blanks between words: there, each token counts as a word. */
const WITHOUT_BLANKS: ReadonlySet<string> = new Set(["bo", "ja", "km", "lo", "my", "th", "yue", "zh"]);
/** The times of tokens are no better than this, so a pause this near to the border of two words is that border. */
const PAUSE_DISTANCE_MS_MAX = 250;
/** Times of tokens this far outside their segment are no times. */
const OUTSIDE_MS_MAX = 1000;

/**
 * The words of a segment. The engine's times of tokens are rough, so borders between words move to a pause beside them,
 * and no word begins before or ends after the voice. `voiced`: where somebody speaks in the segment; at least one
 * stretch.
 */
export function segmentWords(
  segment: TranscriptSegment,
  voiced: readonly Stretch[],
  language: string | null,
): readonly TimedWord[] {
  const words = wordsIn(segment, language !== null && WITHOUT_BLANKS.has(language));
  return withPauses(areTimesGiven(words, segment) ? words : spread(words, voiced), voiced);
}

/** Tokens that begin with a blank begin a word. Punctuation alone belongs to the word before it. */
function wordsIn({ text, startMs, details }: TranscriptSegment, isTokenWord: boolean): readonly TimedWord[] {
  if (details === undefined || details.tokens.length === 0)
    return text.split(/\s+/).map((word) => ({ text: word, startMs, endMs: startMs }));
  const groups: TranscriptToken[][] = [];
  for (const token of details.tokens) {
    const group = groups.at(-1);
    const begins = /^\s/.test(token.text) || (isTokenWord && /[\p{L}\p{N}]/u.test(token.text));
    if (group === undefined || begins) groups.push([token]);
    else group.push(token);
  }
  return groups.map(wordOf).filter((word) => word.text !== "");
}

function wordOf(tokens: readonly TranscriptToken[]): TimedWord {
  const text = tokens.map((token) => token.text).join("");
  return { text: text.trim(), startMs: tokens[0]?.startMs ?? 0, endMs: tokens.at(-1)?.endMs ?? 0 };
}

/** Whether the times of words rise and are those of their segment. */
function areTimesGiven(words: readonly TimedWord[], { startMs, endMs }: Stretch): boolean {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined || last.endMs <= first.startMs) return false;
  if (first.startMs < startMs - OUTSIDE_MS_MAX || last.endMs > endMs + OUTSIDE_MS_MAX) return false;
  return words.every((word, index) => word.startMs <= word.endMs && word.startMs <= (words[index + 1] ?? last).endMs);
}

/** Shares the voiced time out among the words by their letters. */
function spread(words: readonly TimedWord[], stretches: readonly Stretch[]): readonly TimedWord[] {
  const voicedMs = stretches.reduce((sum, stretch) => sum + stretchLength(stretch), 0);
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  let place = 0;
  return words.map(({ text }) => {
    const startMs = placeAt((place / letters) * voicedMs, stretches, "start");
    place += text.length;
    return { text, startMs, endMs: Math.max(startMs, placeAt((place / letters) * voicedMs, stretches, "end")) };
  });
}

/** The moment at which somebody has spoken this long. Between two stretches it is the start or the end of one. */
function placeAt(voicedMs: number, stretches: readonly Stretch[], side: "start" | "end"): number {
  let left = voicedMs;
  for (const stretch of stretches) {
    const isHere = side === "end" ? left <= stretchLength(stretch) : left < stretchLength(stretch);
    if (isHere) return Math.round(stretch.startMs + left);
    left -= stretchLength(stretch);
  }
  return stretches.at(-1)?.endMs ?? 0;
}

function stretchLength({ startMs, endMs }: Stretch): number {
  return endMs - startMs;
}

function withPauses(words: readonly TimedWord[], stretches: readonly Stretch[]): readonly TimedWord[] {
  const pauses = pausesOfBorders(words, stretches);
  const voiceStartMs = stretches[0]?.startMs ?? 0;
  const voiceEndMs = stretches.at(-1)?.endMs ?? 0;
  let earliestMs = voiceStartMs;
  return words.map(({ text, startMs, endMs }, index) => {
    const start = pauses.get(index)?.endMs ?? Math.max(startMs, voiceStartMs);
    const end = pauses.get(index + 1)?.startMs ?? Math.min(index === words.length - 1 ? voiceEndMs : endMs, voiceEndMs);
    const place = { text, startMs: Math.max(earliestMs, start), endMs: Math.max(earliestMs, start, end) };
    earliestMs = place.endMs;
    return place;
  });
}

/** The pause before each of these words, by the word's index. A pause is the border that is nearest to it. */
function pausesOfBorders(words: readonly TimedWord[], stretches: readonly Stretch[]): ReadonlyMap<number, Stretch> {
  const pauseOf = new Map<number, Stretch>();
  for (const [place, stretch] of stretches.slice(1).entries()) {
    const pause = { startMs: stretches[place]?.endMs ?? stretch.startMs, endMs: stretch.startMs };
    const distances = words.slice(1).map((word, index) => distance(words[index]?.endMs ?? 0, word.startMs, pause));
    const nearest = Math.min(...distances);
    const border = distances.indexOf(nearest) + 1;
    if (nearest <= PAUSE_DISTANCE_MS_MAX && !pauseOf.has(border)) pauseOf.set(border, pause);
  }
  return pauseOf;
}

/** How far the border between two words is from a pause; 0 if they meet. */
function distance(endMs: number, startMs: number, pause: Stretch): number {
  return Math.max(0, Math.min(endMs, startMs) - pause.endMs, pause.startMs - Math.max(endMs, startMs));
}
