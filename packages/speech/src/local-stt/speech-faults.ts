import type { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import { AudioError } from "../audio-formats/audio-error.ts";
import { SpeechError } from "../recognition/speech-engine.ts";
import {
  audioTooLong,
  busy,
  emptyAudio,
  invalidAudio,
  modelFailed,
  modelLoading,
  transcriptionFailed,
  unsupportedFormat,
} from "./errors.ts";

/** The error for the client when a transcription fails. */
export function speechFault({ reason, message }: SpeechError): ApiError {
  const sentence = `${message}.`;
  switch (reason) {
    case "loading":
    case "unavailable":
      return modelLoading(sentence);
    case "failed":
      return modelFailed(sentence);
    case "busy":
      return busy(sentence);
    case "crashed":
    case "refused":
      return transcriptionFailed(sentence);
    default:
      return assertNever(reason);
  }
}

/**
 * Translates an error of reading or transcribing a recording to one for the client. Other errors are returned
 * unchanged.
 */
export function recordingFault(error: unknown): unknown {
  if (error instanceof SpeechError) return speechFault(error);
  if (!(error instanceof AudioError)) return error;
  const sentence = `${error.message}.`;
  switch (error.reason) {
    case "unsupported":
      return unsupportedFormat(sentence);
    case "broken":
      return invalidAudio(sentence);
    case "empty":
      return emptyAudio(sentence);
    case "too_long":
      return audioTooLong(sentence);
    default:
      return assertNever(error.reason);
  }
}
