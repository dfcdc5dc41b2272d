import type { SpeechSegment } from "./segmenter.ts";
import {
  type SegmentDetails,
  SPEECH_RATE_HZ,
  type Transcript,
  type TranscriptionRequest,
  type TranscriptSegment,
} from "./speech-engine.ts";
import { type Stretch, voicedStretches } from "./voiced-stretches.ts";
import { segmentWords, type TimedWord } from "./word-times.ts";

/** How to transcribe a recording. */
export type HearingRequest = Pick<
  TranscriptionRequest,
  "caller" | "language" | "prompt" | "signal" | "task" | "temperature"
>;

/** A part of a recording, between two pauses. */
export interface HeardPart {
  /** Empty if nothing is said. */
  readonly text: string;
  readonly segments: readonly HeardSegment[];
  /** The detected language, such as `en`; null if the engine reports none. */
  readonly language: string | null;
  /** How much of the recording has been read so far; in the last part, its length. */
  readonly heardMs: number;
}

/** A segment with its times from the start of the recording. */
export interface HeardSegment extends Stretch {
  readonly text: string;
  /** Where the sound that the engine was given begins. */
  readonly windowMs: number;
  readonly words: readonly TimedWord[];
  /** Null if the engine reports none. Its tokens keep their times from the start of the window. */
  readonly details: SegmentDetails | null;
}

/** The transcript of a stretch of speech, with its place in the recording. */
export function heardPart(
  { samples, startMs: windowMs }: SpeechSegment,
  { text, segments, language }: Transcript,
  heardMs: number,
): HeardPart {
  if (text.trim() === "") return { text: "", segments: [], language, heardMs };
  const voiced = voicedStretches(samples);
  const endMs = (samples.length * 1000) / SPEECH_RATE_HZ;
  const all = segments.length === 0 ? [{ text: text.trim(), startMs: 0, endMs }] : segments;
  const shown = all.map((segment, index) => {
    // The engine rounds the start of the first segment and the end of the last.
    const room = { startMs: index === 0 ? 0 : segment.startMs, endMs: all[index + 1]?.startMs ?? endMs };
    return heardSegment(segment, segmentWords(segment, voicedIn(voiced, room), language), windowMs);
  });
  return { text: text.trim(), segments: shown, language, heardMs };
}

/** The parts of stretches that lie in a room; the room itself if there are none. */
function voicedIn(stretches: readonly Stretch[], room: Stretch): readonly Stretch[] {
  const inside = stretches.flatMap((stretch) => {
    const startMs = Math.max(stretch.startMs, room.startMs);
    const endMs = Math.min(stretch.endMs, room.endMs);
    return endMs > startMs ? [{ startMs, endMs }] : [];
  });
  return inside.length === 0 ? [room] : inside;
}

/** A segment begins with its first word and ends with its last, because the engine rounds its times. */
function heardSegment(segment: TranscriptSegment, words: readonly TimedWord[], windowMs: number): HeardSegment {
  const later = (ms: number): number => Math.round(ms + windowMs);
  return {
    text: segment.text,
    startMs: later(words[0]?.startMs ?? segment.startMs),
    endMs: later(words.at(-1)?.endMs ?? segment.endMs),
    windowMs: Math.round(windowMs),
    words: words.map((word) => ({ text: word.text, startMs: later(word.startMs), endMs: later(word.endMs) })),
    details: segment.details ?? null,
  };
}
