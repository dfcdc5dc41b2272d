import { MediaError } from "@antiphon/domain/media.ts";
import type { SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";

const INVALID_VALUE = "invalid_value";
/** A model on disk loads within seconds. */
const LOADING_RETRY_SECONDS = 5;
const BUSY_RETRY_SECONDS = 1;

export function invalidAudio(why: string): MediaError {
  return new MediaError(`Invalid audio: ${why}.`, { code: INVALID_VALUE, member: "input_audio.data" });
}

export function missingSampleRate(): MediaError {
  const message = "Missing required parameter: 'sample_rate_hz', which the format pcm needs.";
  return new MediaError(message, { code: "missing_required_parameter", member: "input_audio.sample_rate_hz" });
}

export function audioNotSupported(format: string): MediaError {
  const message = `The model of this server does not hear audio in the format '${format}', and no transcription is set up. The operator can set SPEECH_ENGINE to whisper, or TRANSCRIPTION_BASE_URL to a transcription server, or name audio in MODEL_INPUT for a model that hears wav and mp3.`;
  return new MediaError(message, { code: "unsupported_value", member: "input_audio" });
}

export function notTranscribed(error: SpeechError): MediaError {
  if (error.reason === "refused")
    return new MediaError(`Invalid audio: ${error.message}.`, {
      code: INVALID_VALUE,
      member: "input_audio.data",
      cause: error,
    });
  return new MediaError(`${error.message}.`, {
    code: "server_error",
    member: null,
    isServerFault: true,
    ...retryAfter(error.reason),
    cause: error,
  });
}

/** While the engine is loading or busy, the client may retry later. */
function retryAfter(reason: SpeechError["reason"]): { readonly retryAfterSeconds?: number } {
  if (reason === "loading") return { retryAfterSeconds: LOADING_RETRY_SECONDS };
  return reason === "busy" ? { retryAfterSeconds: BUSY_RETRY_SECONDS } : {};
}
