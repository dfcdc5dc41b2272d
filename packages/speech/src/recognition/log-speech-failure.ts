import type { Logger } from "@antiphon/base/logger.ts";
import { AudioError } from "../audio-formats/audio-error.ts";
import { SpeechError } from "./speech-engine.ts";

interface LoggedRequest {
  readonly log: Logger;
  readonly requestId: string;
}

/** Logs why a transcription failed, without text and sound. Other errors are not logged here. */
export function logSpeechFailure({ log, requestId }: LoggedRequest, error: unknown): void {
  if (error instanceof AudioError) return log.warn(fieldsOf(error, requestId), "recording cannot be read");
  if (!(error instanceof SpeechError)) return;
  const fields = fieldsOf(error, requestId);
  if (error.reason === "crashed" || error.reason === "failed") log.error(fields, "speech was not transcribed");
  else log.warn(fields, "speech was not transcribed");
}

function fieldsOf({ reason, message }: AudioError | SpeechError, requestId: string): object {
  return { requestId, reason, problem: message };
}
