/** Pictures that models are known to take. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** What bytes begin with, by media type; a dot stands for any byte. */
const SIGNATURES: readonly (readonly [mimeType: string, signature: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["image/bmp", /^BM[^]{4}\0\0\0\0/],
  ["image/tiff", /^(?:II\*\0|MM\0\*)/],
  ["image/heic", /^[^]{4}ftyp(?:hei[cmsx]|hev[cx]|mif1|msf1)/],
  ["image/avif", /^[^]{4}ftypavi[fs]/],
  ["image/x-icon", /^\0\0\x01\0/],
  ["application/pdf", /^[^]{0,1020}?%PDF-/],
  ["audio/wav", /^(?:RIFF|RF64)[^]{4}WAVE/],
  ["audio/ogg", /^OggS/],
  ["audio/flac", /^fLaC/],
  ["audio/mp4", /^[^]{4}ftypM4[AB]/],
  ["audio/mpeg", /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/],
  ["video/webm", /^\x1aE\xdf\xa3/],
  ["video/mp4", /^[^]{4}ftyp/],
  ["image/svg+xml", /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/i],
];

/** As many bytes as a signature may reach over. */
const SNIFFED_BYTES = 1030;

/** The media type that the first bytes tell, or null. */
export function sniffType(bytes: Uint8Array): string | null {
  const { buffer, byteOffset, byteLength } = bytes;
  const start = Buffer.from(buffer, byteOffset, Math.min(byteLength, SNIFFED_BYTES)).toString("latin1");
  return SIGNATURES.find(([, signature]) => signature.test(start))?.[0] ?? null;
}

/** The same of content in base64, of which only the beginning is decoded. */
export function sniffBase64(base64: string): string | null {
  return sniffType(Buffer.from(base64.slice(0, (SNIFFED_BYTES / 3) * 4 + 100), "base64"));
}
