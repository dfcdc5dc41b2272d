/** The image types that models accept. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** The first bytes of each media type; a question mark stands for any byte. */
const SIGNATURES: readonly (readonly [mimeType: string, ...starts: readonly string[]])[] = [
  ["image/png", "\u0089PNG\r\n\u001a\n"],
  ["image/jpeg", "\u00ff\u00d8\u00ff"],
  ["image/gif", "GIF87a", "GIF89a"],
  ["image/webp", "RIFF????WEBP"],
  ["image/bmp", "BM????\0\0\0\0"],
  ["image/tiff", "II*\0", "MM\0*"],
  ["image/heic", "????ftypheic", "????ftypheix", "????ftyphevc", "????ftypmif1", "????ftypmsf1"],
  ["image/avif", "????ftypavif", "????ftypavis"],
  ["image/x-icon", "\0\0\u0001\0"],
  ["audio/wav", "RIFF????WAVE", "RF64????WAVE"],
  ["audio/ogg", "OggS"],
  ["audio/flac", "fLaC"],
  ["audio/mp4", "????ftypM4A", "????ftypM4B"],
  ["audio/mpeg", "ID3", ...["\u00fb", "\u00fa", "\u00f3", "\u00f2", "\u00e3", "\u00e2"].map((byte) => `\u00ff${byte}`)],
  ["video/webm", "\u001aE\u00df\u00a3"],
  ["video/mp4", "????ftyp"],
  ["application/zip", "PK\u0003\u0004"], // Includes Office documents.
  ["application/x-ole-storage", "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1"],
];

/** Other bytes may precede this mark, up to `PDF_PREFACE_BYTES_MAX`. */
const PDF_MARK = "%PDF-";
const PDF_PREFACE_BYTES_MAX = 1024;
/**
 * A comment must end at its first end mark. Otherwise the expression would backtrack without limit on many comments.
 */
const SVG_START = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/i;
/** How many bytes are examined. */
const SNIFFED_BYTES = PDF_PREFACE_BYTES_MAX + PDF_MARK.length;

/** Detects the media type by the first bytes; null if unknown. */
export function sniffType(bytes: Uint8Array): string | null {
  const { buffer, byteOffset, byteLength } = bytes;
  const start = Buffer.from(buffer, byteOffset, Math.min(byteLength, SNIFFED_BYTES)).toString("latin1");
  const match = SIGNATURES.find(([, ...starts]) => starts.some((signature) => begins(start, signature)));
  if (match !== undefined) return match[0];
  if (start.includes(PDF_MARK)) return "application/pdf";
  return SVG_START.test(start) ? "image/svg+xml" : null;
}

/** The same for base64 content. Decodes only its beginning. */
export function sniffBase64(base64: string): string | null {
  return sniffType(Buffer.from(base64.slice(0, 2 * SNIFFED_BYTES), "base64"));
}

function begins(text: string, signature: string): boolean {
  if (text.length < signature.length) return false;
  for (let index = 0; index < signature.length; index++) {
    if (signature[index] !== "?" && signature[index] !== text[index]) return false;
  }
  return true;
}
