import { MediaError } from "@antiphon/domain/media.ts";

export function fileNotFound(fileId: string): MediaError {
  return new MediaError(`The file '${fileId}' was not found.`, { code: "file_not_found", member: "file_id" });
}

/** The file storage does not respond now. */
export function fileStorageAway(cause: unknown): MediaError {
  return new MediaError("The storage of files does not answer. Please retry in a moment.", {
    code: "file_storage_unavailable",
    member: "file_id",
    isServerFault: true,
    retryAfterSeconds: 2,
    cause,
  });
}

export function invalidFileData(): MediaError {
  const message = "Invalid file data. Expected a base64-encoded data URL.";
  return new MediaError(message, { code: "invalid_value", member: "file_data" });
}

export function emptyFile(filename: string): MediaError {
  return new MediaError(`The file '${filename}' is empty.`, { code: "empty_file", member: null });
}

/** `why` is the predicate of a sentence about the file. */
export function unsupportedFile(filename: string, why: string): MediaError {
  return new MediaError(`The file '${filename}' ${why}.`, { code: "unsupported_file", member: null });
}

export function fileTooLarge(filename: string, why: string): MediaError {
  return new MediaError(`The file '${filename}' ${why}.`, { code: "file_too_large", member: null });
}

export function tooMuchMedia(bytesMax: number): MediaError {
  const message = `The images and files that this request refers to are larger than ${bytesMax} bytes together.`;
  return new MediaError(message, { code: "file_too_large", member: null });
}

export function tooManyParts(partsMax: number): MediaError {
  const message = `The request refers to more than ${partsMax} images and files by URL or id.`;
  return new MediaError(message, { code: "invalid_value", member: null });
}

export function fileMissing(): MediaError {
  return new MediaError("Missing required parameter: 'file_data'.", {
    code: "missing_required_parameter",
    member: "file_data",
  });
}
