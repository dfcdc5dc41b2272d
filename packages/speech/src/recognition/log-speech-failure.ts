import { AudioError } from "../audio-formats/audio-error.ts";
import { SpeechError } from "../recognition/speech-engine.ts";
import type { SttContext } from "./context.ts";

/** Logs why a transcription failed, without text and sound. Other errors are not logged here. */
export function logSpeechFailure({ log, requestId }: Pick<SttContext, "log" | "requestId">, error: unknown): void {
  if (error instanceof AudioError) return log.warn(fieldsOf(error, requestId), "recording cannot be read");
  if (!(error instanceof SpeechError)) return;
  const fields = fieldsOf(error, requestId);
  if (error.reason === "crashed" || error.reason === "failed") log.error(fields, "speech was not transcribed");
  else log.warn(fields, "speech was not transcribed");
}

function fieldsOf({ reason, message }: AudioError | SpeechError, requestId: string): object {
  return { requestId, reason, problem: message };
}
