import type { EgressError, EgressReason } from "../egress/egress-error.ts";
import { MediaError } from "../responses-api/ports.ts";
import type { SpeechError } from "../speech/speech-engine.ts";

const INVALID_VALUE = "invalid_value";
const UNSUPPORTED_VALUE = "unsupported_value";
const UNSUPPORTED_FILE = "unsupported_file";
const FILE_TOO_LARGE = "file_too_large";

export function missingMember(member: string): MediaError {
  return new MediaError(`Missing required parameter: '${member}'.`, { code: "missing_required_parameter", member });
}

// ---- pictures

export function imagesNotTaken(): MediaError {
  const message = "The model of this server takes no images. The operator says what it takes with MODEL_INPUT.";
  return new MediaError(message, { code: UNSUPPORTED_VALUE, member: null });
}

export function invalidImageUrl(): MediaError {
  const message = "Invalid image URL. Expected an http or https URL, or a data URL with base64 content.";
  return new MediaError(message, { code: "invalid_image_url", member: "image_url" });
}

export function invalidBase64Image(): MediaError {
  const message =
    "Invalid image data. Expected a base64-encoded data URL, such as 'data:image/png;base64,' and the base64 text.";
  return new MediaError(message, { code: "invalid_base64_image", member: "image_url" });
}

export function emptyImage(member: string): MediaError {
  return new MediaError("The image is empty.", { code: "empty_image_file", member });
}

/** `mimeType` is null where the bytes are of no kind that is known. */
export function unsupportedImage(member: string, mimeType: string | null): MediaError {
  const supported = "Supported are PNG, JPEG, GIF and WebP.";
  if (mimeType === null)
    return new MediaError(`The image could not be recognised. ${supported}`, { code: "invalid_image_format", member });
  const message = `The image is of the unsupported type '${mimeType}'. ${supported}`;
  return new MediaError(message, { code: "unsupported_image_media_type", member });
}

export function imageTooLarge(member: string, bytesMax: number): MediaError {
  const code = member === "file_id" ? "image_file_too_large" : "image_too_large";
  return new MediaError(`The image is larger than ${bytesMax} bytes.`, { code, member });
}

export function imageFileNotFound(fileId: string): MediaError {
  return new MediaError(`The image file '${fileId}' was not found.`, {
    code: "image_file_not_found",
    member: "file_id",
  });
}

// ---- files

export function fileNotFound(fileId: string): MediaError {
  return new MediaError(`The file '${fileId}' was not found.`, { code: "file_not_found", member: "file_id" });
}

export function invalidFileData(): MediaError {
  const message = "Invalid file data. Expected a base64-encoded data URL.";
  return new MediaError(message, { code: INVALID_VALUE, member: "file_data" });
}

export function emptyFile(filename: string): MediaError {
  return new MediaError(`The file '${filename}' is empty.`, { code: "empty_file", member: null });
}

/** `why` completes the sentence that begins with the file's name. */
export function unsupportedFile(filename: string, why: string): MediaError {
  return new MediaError(`The file '${filename}' ${why}.`, { code: UNSUPPORTED_FILE, member: null });
}

export function fileTooLarge(filename: string, why: string): MediaError {
  return new MediaError(`The file '${filename}' ${why}.`, { code: FILE_TOO_LARGE, member: null });
}

export function tooMuchMedia(bytesMax: number): MediaError {
  const message = `The images and files that this request refers to are larger than ${bytesMax} bytes together.`;
  return new MediaError(message, { code: FILE_TOO_LARGE, member: null });
}

// ---- what lies elsewhere

/** How errors of a kind of part are called. */
export interface DownloadCodes {
  readonly invalid: string;
  readonly failed: string;
  readonly wrongType: string;
  readonly tooLarge: string;
}

export const IMAGE_DOWNLOAD: DownloadCodes = {
  invalid: "invalid_image_url",
  failed: "failed_to_download_image",
  wrongType: "unsupported_image_media_type",
  tooLarge: "image_too_large",
};

export const FILE_DOWNLOAD: DownloadCodes = {
  invalid: "invalid_file_url",
  failed: "failed_to_download_file",
  wrongType: UNSUPPORTED_FILE,
  tooLarge: FILE_TOO_LARGE,
};

const CODE_OF: Readonly<Partial<Record<EgressReason, keyof DownloadCodes>>> = {
  switched_off: "invalid",
  invalid_url: "invalid",
  forbidden: "invalid",
  wrong_type: "wrongType",
  too_large: "tooLarge",
};

export function notDownloaded(error: EgressError, codes: DownloadCodes, member: string): MediaError {
  const code = codes[CODE_OF[error.reason] ?? "failed"];
  return new MediaError(`Error while downloading '${member}': ${error.message}.`, { code, member, cause: error });
}

// ---- recordings

export function invalidAudio(why: string): MediaError {
  return new MediaError(`Invalid audio: ${why}.`, { code: INVALID_VALUE, member: "input_audio.data" });
}

export function missingSampleRate(): MediaError {
  const message = "Missing required parameter: 'sample_rate_hz' says how many samples a second pcm has.";
  return new MediaError(message, { code: "missing_required_parameter", member: "input_audio.sample_rate_hz" });
}

export function notHeard(format: string): MediaError {
  const message = `The model of this server does not hear audio in the format '${format}', and no transcription is set up. The operator can set TRANSCRIPTION_BASE_URL to a transcription server, or name audio in MODEL_INPUT for a model that hears wav and mp3.`;
  return new MediaError(message, { code: UNSUPPORTED_VALUE, member: "input_audio" });
}

export function notTranscribed(error: SpeechError): MediaError {
  if (error.reason === "refused")
    return new MediaError(`Invalid audio: ${error.message}.`, {
      code: INVALID_VALUE,
      member: "input_audio.data",
      cause: error,
    });
  return new MediaError(`${error.message}.`, { code: "server_error", member: null, isOurs: true, cause: error });
}
