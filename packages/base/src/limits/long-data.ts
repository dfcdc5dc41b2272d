import { createHash } from "node:crypto";
import { Slices } from "./slices.ts";

/** Characters or bytes worked on at once: about a millisecond. A multiple of 3 and of 4. */
const PIECE = 768 * 1024;

/**
 * `plain`: only base64 letters and padding. `loose`: also white space, or base64url letters. Null if strict decoders
 * would reject it even without these.
 */
export async function base64Form(text: string): Promise<"plain" | "loose" | null> {
  const content = text.trimEnd();
  const padding = content.endsWith("==") ? 2 : Number(content.endsWith("="));
  let isPlain = content.length === text.length;
  let letters = 0;
  for await (const piece of piecesOfText(content.slice(0, content.length - padding))) {
    if (/^[A-Za-z0-9+/]*$/.test(piece)) letters += piece.length;
    else if (/^[\w+/\s-]*$/.test(piece)) {
      isPlain = false;
      letters += piece.replace(/\s+/g, "").length;
    } else return null;
  }
  if (letters % 4 === 1) return null;
  return isPlain ? "plain" : "loose";
}

/** The bytes of a text for which `base64Form` is not null. */
export async function decodeBase64(text: string): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.ceil((text.length / 4) * 3));
  let size = 0;
  let rest = "";
  for await (const piece of piecesOfText(text)) {
    const letters = rest + piece.replace(/\s+/g, "");
    rest = letters.slice(letters.length - (letters.length % 4));
    size += bytes.write(letters.slice(0, letters.length - rest.length), size, "base64");
  }
  size += bytes.write(rest, size, "base64");
  return bytes.subarray(0, size);
}

export async function encodeBase64(bytes: Uint8Array): Promise<string> {
  const parts: string[] = [];
  for await (const piece of piecesOfBytes(bytes))
    parts.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("base64"));
  return parts.join("");
}

/** The SHA-256 of the bytes in base64. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of piecesOfBytes(bytes)) hash.update(piece);
  return hash.digest("base64");
}

/** The text of bytes in this charset; null if the charset is unknown or the bytes are invalid in it. */
export async function decodeAs(bytes: Uint8Array, charset: string): Promise<string | null> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true });
    const parts: string[] = [];
    for await (const piece of piecesOfBytes(bytes)) parts.push(decoder.decode(piece, { stream: true }));
    return parts.join("") + decoder.decode();
  } catch {
    return null;
  }
}

/** Cuts a text into pieces, with turns of the event loop if work on them takes long. */
async function* piecesOfText(text: string): AsyncGenerator<string> {
  const slices = new Slices();
  for (let start = 0; start < text.length; start += PIECE) {
    await slices.pause();
    yield text.slice(start, start + PIECE);
  }
}

/** The same for bytes. */
async function* piecesOfBytes(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const slices = new Slices();
  for (let start = 0; start < bytes.length; start += PIECE) {
    await slices.pause();
    yield bytes.subarray(start, start + PIECE);
  }
}
