import { ApiError } from "@antiphon/base/api-error.ts";
import type { SttErrorBody } from "@antiphon/contracts/local-stt/types.ts";

/** Tells the official clients and ours not to retry. */
const NO_RETRY = { "x-should-retry": "false" };

type Code = SttErrorBody["error"]["code"];

/** Makes an error of Interface B. This file lists all of them. */
function fault(status: number, code: Code, message: string, headers: Record<string, string> = {}): ApiError {
  return new ApiError({ status, type: code, code, message, headers });
}

/** `{error: {code, message}}`. */
export function renderError(error: ApiError): { error: { code: string; message: string } } {
  return { error: { code: error.code ?? error.type, message: error.message } };
}

export function invalidJson(): ApiError {
  return fault(400, "invalid_json", "The body is not valid JSON.");
}

export function invalidRequest(message: string): ApiError {
  return fault(400, "invalid_request", message);
}

export function uploadTooLarge(bytesMax: number): ApiError {
  return fault(
    413,
    "upload_too_large",
    `The upload is larger than ${bytesMax} bytes. BACKEND_MAX_UPLOAD_MB sets the limit.`,
  );
}

export function bodyPackedTooTightly(ratioMax: number): ApiError {
  const message = `The body unpacks to more than ${ratioMax} times its size. Send it without compression.`;
  return fault(413, "upload_too_large", message);
}

/** For JSON bodies, whose limit no setting changes. */
export function bodyTooLarge(bytesMax: number): ApiError {
  return fault(413, "upload_too_large", `The body is larger than ${bytesMax} bytes.`);
}

export function bodyTimedOut(): ApiError {
  return fault(408, "idle_timeout", "The body did not arrive in time.");
}

export function unsupportedMediaType(contentType: string): ApiError {
  return fault(415, "unsupported_media_type", `Unsupported content type: '${contentType}'.`);
}

export function unknownRoute(method: string, path: string): ApiError {
  return fault(404, "not_found", `There is no ${method} ${path}.`);
}

export function methodNotAllowed(method: string, path: string, allow: string): ApiError {
  return fault(405, "method_not_allowed", `Not allowed to ${method} on ${path}.`, { Allow: allow });
}

export function upgradeRequired(path: string): ApiError {
  return fault(426, "upgrade_required", `${path} speaks WebSocket only.`, { Upgrade: "websocket" });
}

/** For messages of a stream. */
export function brokenMessage(reason: string): ApiError {
  return fault(400, "invalid_message", reason);
}

export function binaryMessage(): ApiError {
  return fault(415, "invalid_message", "Expected a text message with JSON, but got a binary one.");
}

export function chunkTooLarge(bytesMax: number): ApiError {
  return fault(413, "chunk_too_large", `A chunk holds at most ${bytesMax} bytes of audio.`);
}

export function messageTooLarge(bytesMax: number): ApiError {
  return fault(413, "chunk_too_large", `A message holds at most ${bytesMax} bytes.`);
}

/** For streams. Files of unknown formats get `unsupportedFormat`. */
export function unsupportedEncoding(encoding: string): ApiError {
  return fault(
    400,
    "unsupported_format",
    `Unsupported format: '${encoding.slice(0, 64)}'. Send 16-bit PCM, named pcm16.`,
  );
}

export function unsupportedLanguage(language: string, model: string | null): ApiError {
  const name = model === null ? "" : ` ${model}`;
  return fault(
    400,
    "unsupported_language",
    `The speech model${name} does not know the language '${language.slice(0, 64)}'.`,
  );
}

/** For a stream whose first chunk is the start of a file. */
export function fileInsteadOfSamples(format: string): ApiError {
  const message = `Unsupported format: the chunk begins a ${format} file. Send 16-bit PCM samples alone, or upload the file.`;
  return fault(400, "unsupported_format", message);
}

export function endsWithinSample(): ApiError {
  const message = "Unsupported format: the audio ends within a sample, so it is not 16-bit PCM, or a byte is missing.";
  return fault(400, "unsupported_format", message);
}

export function streamIdle(ms: number): ApiError {
  return fault(408, "idle_timeout", `No message came for ${Math.round(ms / 1000)} s.`);
}

export function clientTooSlow(): ApiError {
  return fault(408, "client_too_slow", "The replies were not read.");
}

export function tooManyStreams(streamsMax: number, setting: string): ApiError {
  const message = `There are ${streamsMax} streams already. ${setting} sets the limit.`;
  return fault(503, "too_many_streams", message, { "Retry-After": "5" });
}

export function unsupportedFormat(message: string): ApiError {
  return fault(415, "unsupported_format", message);
}

export function invalidAudio(message: string): ApiError {
  return fault(400, "invalid_audio", message);
}

export function emptyAudio(message: string): ApiError {
  return fault(400, "empty_audio", message);
}

export function audioTooLong(message: string): ApiError {
  return fault(400, "audio_too_long", message);
}

export function missingAudio(): ApiError {
  return fault(400, "missing_audio", "The form has no file part named 'audio'.");
}

export function modelLoading(message: string): ApiError {
  return fault(503, "model_loading", message, { "Retry-After": "5" });
}

export function modelFailed(message: string): ApiError {
  return fault(503, "model_failed", message, { "Retry-After": "60" });
}

export function busy(message: string): ApiError {
  return fault(503, "busy", message, { "Retry-After": "5" });
}

export function transcriptionFailed(message: string): ApiError {
  return fault(500, "transcription_failed", message);
}

export function providerNotConfigured(): ApiError {
  const message = "No provider is set up. Set FORMATTER_BASE_URL and FORMATTER_API_KEY, or start Ollama.";
  return fault(500, "provider_not_configured", message, NO_RETRY);
}

export function providerUnauthorized(message: string): ApiError {
  return fault(500, "provider_unauthorized", message, NO_RETRY);
}

export function providerUnreachable(message: string): ApiError {
  return fault(500, "provider_unreachable", message);
}

export function providerFailed(message: string): ApiError {
  return fault(500, "provider_failed", message);
}

export function answerOfOtherMessages(): ApiError {
  return invalidRequest("This answer_id names the answer to other messages. Choose another one.");
}

export function answerStopped(): ApiError {
  return providerFailed("The answer was stopped.");
}

export function answerTooLong(charactersMax: number): ApiError {
  return providerFailed(`The answer has more than ${charactersMax} characters.`);
}

export function tooManyAnswers(answersMax: number): ApiError {
  return busy(`${answersMax} answers are being written already.`);
}

export function hostNotAllowed(): ApiError {
  return fault(403, "host_not_allowed", "This server answers only to requests for localhost, 127.0.0.1 or [::1].");
}

export function originNotAllowed(): ApiError {
  return fault(
    403,
    "origin_not_allowed",
    "This web page may not use this server. STT_ALLOWED_ORIGINS lists those that may.",
  );
}

export function keyNotLent(): ApiError {
  return fault(403, "user_not_allowed", "This server gives no key to its page: CHAT_LAB_KEY is false.");
}

export function userNotAllowed(): ApiError {
  const message = "Only a browser of the user that runs this server gets the key, where the system can tell.";
  return fault(403, "user_not_allowed", message);
}

export function keyNotFound(): ApiError {
  return fault(404, "not_found", "The Responses API of this machine made no key of its own.");
}

export function notImplemented(operationId: string): ApiError {
  const message = `The operation '${operationId}' is not implemented yet.`;
  return fault(501, "not_implemented", message, NO_RETRY);
}

export function shuttingDown(): ApiError {
  return fault(503, "shutting_down", "The server is shutting down. Please retry in a moment.", { "Retry-After": "1" });
}

export function storageFull(): ApiError {
  const message = "The server has no room left to store this.";
  return fault(507, "storage_full", message, NO_RETRY);
}

export function internalError(requestId: string): ApiError {
  return fault(
    500,
    "internal_error",
    `Something went wrong here. Please name the request id ${requestId} when you report it.`,
  );
}
