import type { ApiError } from "@antiphon/base/api-error.ts";
import { type AudioFormat, sniffFormat } from "../audio-formats/sniff-format.ts";
import { brokenMessage, chunkTooLarge } from "./errors.ts";

export const CHUNK_BYTES_MAX = 1024 * 1024;

/** Lowercase names of 16-bit little-endian PCM. */
const PCM16_NAMES: ReadonlySet<string> = new Set(["pcm", "pcm16", "pcm16le", "pcm_s16le", "s16le", "linear16"]);
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/** Null if the chunk sets no encoding, which means PCM. */
export function isPcm16(encoding: string | null): boolean {
  return encoding === null || PCM16_NAMES.has(encoding.toLowerCase());
}

/** Detects by the first bytes of a stream whether a file was sent instead of samples; null if they can be samples. */
export function fileFormatOf(start: Uint8Array): AudioFormat | null {
  const format = sniffFormat(start);
  return (format === "mp3" || format === "aac") && !hasRepeatedFrames(start) && !isTagged(start) ? null : format;
}

const FRAME_BYTES_MIN = 96;
const FRAME_BYTES_MAX = 1441;

/**
 * Looks for three frame headers at equal distances, with a tolerance for a byte of padding. A single one may be a loud
 * sample.
 */
function hasRepeatedFrames(bytes: Uint8Array): boolean {
  const isFrame = (place: number): boolean => bytes[place] === bytes[0] && bytes[place + 1] === bytes[1];
  for (let length = FRAME_BYTES_MIN; length <= FRAME_BYTES_MAX && 2 * length < bytes.length; length += 1)
    if (isFrame(length) && [-1, 0, 1].some((padding) => isFrame(2 * length + padding))) return true;
  return false;
}

function isTagged(start: Uint8Array): boolean {
  return Buffer.from(start.subarray(0, 3)).toString("latin1") === "ID3";
}

/** Decodes the audio of a chunk, or returns the error if it is not base64 or too large. */
export function decodeChunkAudio(base64: string): Uint8Array | ApiError {
  if (base64.length % 4 !== 0 || !ALPHABET.test(base64)) return brokenMessage("audio_base64 is not base64");
  const bytes = Buffer.from(base64, "base64");
  return bytes.length > CHUNK_BYTES_MAX ? chunkTooLarge(CHUNK_BYTES_MAX) : bytes;
}
