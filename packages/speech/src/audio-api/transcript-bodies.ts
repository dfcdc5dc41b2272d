import { deflateSync } from "node:zlib";
import type {
  AudioDuration,
  AudioLanguage,
  AudioLogprob,
  TranscriptionJson,
  TranscriptionSegment,
  TranscriptionVerbose,
  TranscriptionWord,
} from "@antiphon/contracts/audio/types.ts";
import type { HeardSegment } from "../recognition/heard-part.ts";
import type { TranscriptToken } from "../recognition/speech-engine.ts";
import type { WholeTranscript } from "./transcript.ts";

/** A transcript in the format json. */
export function transcriptJson(transcript: WholeTranscript, showsLogprobs: boolean): TranscriptionJson {
  return {
    text: transcript.text,
    ...languagesOf(transcript),
    ...(showsLogprobs ? { logprobs: logprobsOf(transcript.segments) } : {}),
    usage: durationOf(transcript),
  };
}

/** A transcript in the format verbose_json, with these times only. */
export function transcriptVerbose(
  transcript: WholeTranscript,
  granularities: readonly ("segment" | "word")[],
): TranscriptionVerbose {
  const { task, text, segments, language, durationMs } = transcript;
  return {
    task,
    language: language === null ? "" : languageWord(language),
    duration: seconds(durationMs),
    text,
    ...(granularities.includes("word") ? { words: segments.flatMap(wordsOf) } : {}),
    ...(granularities.includes("word") && !granularities.includes("segment")
      ? {}
      : { segments: segments.map((segment, id) => segmentBody(segment, id, transcript.temperature)) }),
    usage: durationOf(transcript),
  };
}

export function durationOf({ durationMs }: Pick<WholeTranscript, "durationMs">): AudioDuration {
  return { type: "duration", seconds: seconds(durationMs) };
}

/** The member `languages`; empty if no language was detected. */
export function languagesOf({ language }: Pick<WholeTranscript, "language">): { languages?: AudioLanguage[] } {
  return language === null ? {} : { languages: [{ code: language }] };
}

export function logprobsOf(segments: readonly HeardSegment[]): AudioLogprob[] {
  return logprobsOfTokens(segments.flatMap(({ details }) => details?.tokens ?? []));
}

export function logprobsOfTokens(tokens: readonly TranscriptToken[]): AudioLogprob[] {
  return tokens.map(({ text, probability }) => ({
    token: text,
    logprob: Math.log(Math.max(PROBABILITY_MIN, probability)),
    bytes: [...Buffer.from(text, "utf8")],
  }));
}

/** JSON has no infinity. */
const PROBABILITY_MIN = 1e-9;
/** The mean of probabilities that are not known. */
const LOGPROB_UNKNOWN = -1;

const ENGLISH_NAMES = new Intl.DisplayNames("en", { type: "language" });

/** The reference writes the word, not the code. */
function languageWord(code: string): string {
  return (ENGLISH_NAMES.of(code) ?? code).toLowerCase();
}

function wordsOf({ words }: HeardSegment): TranscriptionWord[] {
  return words.map(({ text, startMs, endMs }) => ({ word: text, start: seconds(startMs), end: seconds(endMs) }));
}

function segmentBody(segment: HeardSegment, id: number, temperature: number): TranscriptionSegment {
  const { text, startMs, endMs, windowMs, details } = segment;
  const written = details?.tokens.map((token) => token.text).join("") ?? "";
  return {
    id,
    seek: Math.round(windowMs / 10),
    start: seconds(startMs),
    end: seconds(endMs),
    text: written.trim() === text ? written : ` ${text}`,
    tokens: [...(details?.tokenIds ?? [])],
    temperature,
    avg_logprob: details?.logProbability ?? LOGPROB_UNKNOWN,
    compression_ratio: compressionRatio(text),
    no_speech_prob: details?.noSpeechProbability ?? 0,
  };
}

/** Computed as by the models' authors. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text, "utf8");
  return Math.round((bytes.length / deflateSync(bytes).length) * 1000) / 1000;
}

function seconds(ms: number): number {
  return ms / 1000;
}
