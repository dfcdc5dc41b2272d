import type { Recording } from "../audio-formats/recording.ts";
import { logSpeechFailure } from "../recognition/log-speech-failure.ts";
import type { RecordingTranscriber, TranscribedRecording } from "../recognition/recording-transcriber.ts";
import type { SpeechEngine } from "../recognition/speech-engine.ts";
import type { SttContext } from "./context.ts";
import { recordingFault } from "./speech-faults.ts";
import type { SpeechObserver } from "./speech-observer.ts";
import { spokenLanguage } from "./spoken-language.ts";

export interface Upload {
  readonly audio: Recording;
  /** The language in the form's notation. */
  readonly language?: string;
}

/** Transcribes an uploaded recording. Throws `ApiError`, or the signal's reason if the signal aborts. */
export type TranscribeUpload = (upload: Upload, context: SttContext) => Promise<TranscribedRecording>;

export interface UploadParts {
  readonly speech: SpeechEngine;
  readonly recordings: RecordingTranscriber;
  readonly observer: SpeechObserver;
}

export function transcribeUploads({ speech, recordings, observer }: UploadParts): TranscribeUpload {
  return async ({ audio, language: languageName }, context) => {
    const { requestId, signal } = context;
    const language = spokenLanguage(languageName ?? null, speech);
    try {
      const recording = await recordings.transcribe(audio, { language, caller: requestId, signal });
      observer.audioReceived(recording.durationMs);
      return recording;
    } catch (error) {
      if (!signal.aborted) logSpeechFailure(context, error);
      throw recordingFault(error);
    }
  };
}
