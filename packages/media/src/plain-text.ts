import { decodeAs } from "@antiphon/base/limits/long-data.ts";

/** Media types whose content is text. */
export const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|[\w.-]+\+json|xml|[\w.-]+\+xml|yaml|toml|javascript|sql|csv)$)/;

/**
 * Decodes text by its byte order mark, by `charset`, or as UTF-8; as Windows-1252 only if `isText`. Null if the bytes
 * are not text.
 */
export async function decodeText(bytes: Uint8Array, charset: string | null, isText: boolean): Promise<string | null> {
  const candidates = [markedCharset(bytes), charset, "utf-8", isText ? "windows-1252" : null];
  for (const candidate of candidates) {
    const text = candidate === null ? null : await decodeAs(bytes, candidate);
    if (text !== null && !text.includes("\0")) return text;
  }
  return null;
}

function markedCharset(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}
