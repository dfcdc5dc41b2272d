import { ApiError } from "../base/api-error.ts";
import { CHUNK_BYTES_MAX } from "./chunk-audio.ts";
import { brokenMessage, chunkTooLarge } from "./errors.ts";

/** What a stream says of an error that reading it threw; null where the connection itself broke, and nobody listens. */
export function streamFault(error: unknown): ApiError | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === "invalid_json") return brokenMessage("audio_base64 is required: the message is not JSON");
  if (error.code === "upload_too_large") return chunkTooLarge(CHUNK_BYTES_MAX);
  return error;
}
