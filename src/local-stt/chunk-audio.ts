import type { ApiError } from "../base/api-error.ts";
import { brokenMessage, chunkTooLarge } from "./errors.ts";

export const CHUNK_BYTES_MAX = 1024 * 1024;

/** What 16 bit little-endian PCM is called. */
const PCM16_NAMES: ReadonlySet<string> = new Set(["pcm16", "pcm_s16le", "s16le", "linear16"]);
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/** Null: the chunk does not say, and means it. */
export function isPcm16(encoding: string | null): boolean {
  return encoding === null || PCM16_NAMES.has(encoding);
}

/** The audio of a chunk, or what is wrong with it. */
export function readAudio(base64: string): Uint8Array | ApiError {
  if (base64.length % 4 !== 0 || !ALPHABET.test(base64)) return brokenMessage("audio_base64 is not base64");
  const bytes = Buffer.from(base64, "base64");
  return bytes.length > CHUNK_BYTES_MAX ? chunkTooLarge(CHUNK_BYTES_MAX) : bytes;
}
