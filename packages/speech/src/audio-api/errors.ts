import { ApiError } from "@antiphon/base/api-error.ts";

const INVALID = "invalid_request_error";
const QUOTED_CHARACTERS_MAX = 64;

/** `{error: {message, type, param, code}}`, on both interfaces. */
export function renderAudioError({ message, type, param, code }: ApiError): {
  error: { message: string; type: string; param: string | null; code: string };
} {
  return { error: { message, type, param, code: code ?? type } };
}

function badPart(code: string, param: string | null, message: string): ApiError {
  return new ApiError({ status: 400, type: INVALID, code, param, message });
}

export function partMissing(name: string): ApiError {
  return badPart("missing_required_parameter", name, `Missing required parameter: '${name}'.`);
}

/** `expected` and `got` with their articles. */
export function partOfOtherType(name: string, expected: string, got: string): ApiError {
  return badPart("invalid_type", name, `Invalid type for '${name}': expected ${expected}, but got ${got} instead.`);
}

export function partNotListed(name: string, value: string, choices: readonly string[]): ApiError {
  const list = choices.map((choice) => `'${choice}'`).join(", ");
  return badPart("invalid_value", name, `Invalid value: '${quoted(value)}'. Supported values are: ${list}.`);
}

export function partTooLong(name: string, charactersMax: number, characters: number): ApiError {
  const message = `Invalid '${name}': string too long. Expected a string with maximum length ${charactersMax}, but got a string with length ${characters} instead.`;
  return badPart("string_above_max_length", name, message);
}

export function tooManyParts(name: string, max: number, count: number): ApiError {
  const message = `Invalid '${name}': array too long. Expected an array with maximum length ${max}, but got an array with length ${count} instead.`;
  return badPart("array_above_max_length", name, message);
}

/** `limit`: the broken one. */
export function partOutOfRange(
  name: string,
  value: number,
  limit: { readonly min?: number; readonly max?: number },
): ApiError {
  const isBelow = limit.min !== undefined;
  const bound = isBelow ? `>= ${limit.min}` : `<= ${limit.max}`;
  const message = `Invalid '${name}': decimal ${isBelow ? "below minimum" : "above maximum"} value. Expected a value ${bound}, but got ${value} instead.`;
  return badPart(`decimal_${isBelow ? "below_min" : "above_max"}_value`, name, message);
}

export function speakersNotTold(param: string): ApiError {
  return badPart("unsupported_value", param, "Unsupported value: this server does not tell speakers apart.");
}

export function logprobsNotShown(format: string): ApiError {
  const message = `Unsupported value: 'include' shows logprobs with the response_format 'json' only, not with '${format}'.`;
  return badPart("unsupported_value", "include", message);
}

export function languageNotKnown(param: string, language: string, model: string | null): ApiError {
  const name = model === null ? "" : ` ${model}`;
  const message = `Unsupported value: the speech model${name} does not know the language '${quoted(language)}'.`;
  return badPart("unsupported_value", param, message);
}

export function languageNotReadable(param: string, language: string): ApiError {
  const message = `Invalid '${param}': '${quoted(language)}'. Expected the ISO 639-1 code of a language, such as 'en'.`;
  return badPart("invalid_value", param, message);
}

export function translationNotOffered(model: string | null): ApiError {
  const name = model === null ? "The speech model" : `The speech model ${model}`;
  const message = `Unsupported value: ${name} knows English only, so it cannot translate. The operator can set WHISPER_MODEL to a multilingual model, such as base.`;
  return badPart("unsupported_value", "model", message);
}

export function speechNotSetUp(): ApiError {
  const message = "Unsupported value: this server does not transcribe. The operator can set SPEECH_ENGINE to whisper.";
  return badPart("unsupported_value", "model", message);
}

/** `why`: a clause without a full stop. */
export function recordingNotReadable(why: string, cause: unknown): ApiError {
  const message = `Invalid audio: ${why}.`;
  return new ApiError({ status: 400, type: INVALID, code: "invalid_value", param: "file", message, cause });
}

export function recordingTooLarge(bytesMax: number): ApiError {
  const message = `The recording is larger than ${bytesMax} bytes. BACKEND_MAX_UPLOAD_MB sets the limit.`;
  return new ApiError({ status: 413, type: INVALID, code: "request_too_large", param: "file", message });
}

/** `retrySeconds`: when it is worth another try; null if only the operator can help. */
export function serviceFailed(message: string, retrySeconds: number | null, cause: unknown): ApiError {
  if (retrySeconds === null)
    return new ApiError({ status: 502, type: "server_error", code: "server_error", message, cause });
  const headers = { "Retry-After": String(retrySeconds) };
  const type = "service_unavailable_error";
  return new ApiError({ status: 503, type, code: "server_is_overloaded", message, headers, cause });
}

export function nothingToSpeak(): ApiError {
  return badPart("invalid_value", "input", "Invalid 'input': there is nothing to speak in it.");
}

export function voiceMissing(): ApiError {
  const message =
    "Unsupported value: this server has no voice. The operator can install espeak-ng, or set ESPEAK_PATH to its path, or VOICE_BASE_URL to a server that speaks /v1/audio/speech.";
  return badPart("unsupported_value", "voice", message);
}

export function encoderMissing(format: string): ApiError {
  const message = `Unsupported value: this server has no encoder for '${format}'. The operator can install ffmpeg, or set FFMPEG_PATH to its path. 'pcm' and 'wav' need none.`;
  return badPart("unsupported_value", "response_format", message);
}

export function tooManyTexts(textsMax: number): ApiError {
  return serviceFailed(`The server is speaking ${textsMax} texts already. Please retry in a moment.`, 1, undefined);
}

export function voiceFailed(cause: Error): ApiError {
  return serviceFailed("The voice of this server failed.", null, cause);
}

function quoted(text: string): string {
  return text.length <= QUOTED_CHARACTERS_MAX ? text : `${text.slice(0, QUOTED_CHARACTERS_MAX)}…`;
}
