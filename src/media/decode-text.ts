/**
 * Bytes as text: by their byte order mark, as UTF-8, or in the charset that `charset` names; in Windows-1252 if
 * `isText` says that they are text for certain. Null if they are none.
 */
export function decodeText(bytes: Uint8Array, charset: string | null, isText: boolean): string | null {
  const candidates = [markedCharset(bytes), charset, "utf-8", isText ? "windows-1252" : null];
  for (const candidate of candidates) {
    const text = candidate === null ? null : decodeAs(bytes, candidate);
    if (text !== null && !text.includes("\0")) return text;
  }
  return null;
}

function markedCharset(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}

function decodeAs(bytes: Uint8Array, charset: string): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return null; // An unknown charset, or other bytes than it has.
  }
}
