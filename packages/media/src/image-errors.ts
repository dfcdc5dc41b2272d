import { MediaError } from "@antiphon/domain/media.ts";

export function imagesNotSupported(): MediaError {
  const message = "The model of this server takes no images. The operator can name its input types in MODEL_INPUT.";
  return new MediaError(message, { code: "unsupported_value", member: null });
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

/** `mimeType` is null if the bytes have no known type. */
export function unsupportedImage(member: string, mimeType: string | null): MediaError {
  const hint = "Supported are PNG, JPEG, GIF and WebP.";
  if (mimeType === null)
    return new MediaError(`The image could not be recognised. ${hint}`, { code: "invalid_image_format", member });
  const message = `The image is of the unsupported type '${mimeType}'. ${hint}`;
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

export function imageMissing(): MediaError {
  return new MediaError("Missing required parameter: 'image_url'.", {
    code: "missing_required_parameter",
    member: "image_url",
  });
}
