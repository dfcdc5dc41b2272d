import type { Transcription, TranscriptionFormat } from "@antiphon/contracts/audio/types.ts";
import { speakersNotTold } from "./errors.ts";
import { cuesOf, srtText, vttText } from "./subtitles.ts";
import type { WholeTranscript } from "./transcript.ts";
import { durationOf, transcriptJson, transcriptVerbose } from "./transcript-bodies.ts";

export interface TranscriptShape {
  readonly format: TranscriptionFormat;
  readonly granularities: readonly ("segment" | "word")[];
  readonly showsLogprobs: boolean;
}

type TranscriptReply =
  | { readonly status: 200; readonly body: Transcription }
  | { readonly status: 200; readonly text: string };

/** The header with the length of the recording, in seconds. */
export const AUDIO_SECONDS = "x-antiphon-audio-seconds";

/** Says how long the recording is, which some formats cannot say. */
export function lengthHeader(transcript: WholeTranscript): Readonly<Record<string, string>> {
  return { [AUDIO_SECONDS]: String(durationOf(transcript).seconds) };
}

/** A transcript in the format that was asked for. */
export function transcriptReply(transcript: WholeTranscript, shape: TranscriptShape): TranscriptReply {
  switch (shape.format) {
    case "json":
      return { status: 200, body: transcriptJson(transcript, shape.showsLogprobs) };
    case "verbose_json":
      return { status: 200, body: transcriptVerbose(transcript, shape.granularities) };
    case "text":
      return { status: 200, text: `${transcript.text}\n` };
    case "srt":
      return { status: 200, text: srtText(cuesOf(transcript.segments)) };
    case "vtt":
      return { status: 200, text: vttText(cuesOf(transcript.segments)) };
    case "diarized_json":
      throw speakersNotTold("response_format");
  }
}
