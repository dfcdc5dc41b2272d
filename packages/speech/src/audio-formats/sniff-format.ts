export type AudioFormat = "aac" | "aiff" | "caf" | "flac" | "m4a" | "mp3" | "ogg" | "wav" | "webm";

/** How many bytes `sniffFormat` examines. */
export const SNIFFED_BYTES = 64;

/** The first bytes of each format; a dot stands for any byte. */
const SIGNATURES: readonly (readonly [format: AudioFormat, start: string])[] = [
  ["wav", "RIFF....WAVE"],
  ["flac", "fLaC"],
  ["ogg", "OggS\0"],
  ["webm", "\x1a\x45\xdf\xa3"],
  ["m4a", "....ftyp"],
  ["mp3", "ID3"],
  ["aiff", "FORM....AIFF"],
  ["aiff", "FORM....AIFC"],
  ["caf", "caff"],
];

/**
 * Detects the format of a recording by its first bytes, because names and declared types are not trusted. Null if
 * unknown.
 */
export function sniffFormat(start: Uint8Array): AudioFormat | null {
  const text = Buffer.from(start.subarray(0, SNIFFED_BYTES)).toString("latin1");
  const match = SIGNATURES.find(([, signature]) => beginsWith(text, signature));
  if (match !== undefined) return match[0];
  if (isMp3Frame(start)) return "mp3";
  return isAacFrame(start) ? "aac" : null;
}

function beginsWith(text: string, signature: string): boolean {
  return text.length >= signature.length && [...signature].every((one, place) => one === "." || one === text[place]);
}

/** Whether the bytes are the header of an ADTS frame. */
function isAacFrame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  const isSynchronized = first === 0xff && (second & 0xf6) === 0xf0;
  const rateIndex = (third & 0x3c) >> 2;
  return isSynchronized && rateIndex <= 12;
}

/**
 * Whether the bytes are the header of an MPEG audio layer III frame. AAC frames begin the same way, but with layer 0.
 */
function isMp3Frame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  const isSynchronized = first === 0xff && (second & 0xe0) === 0xe0;
  const isLayer3 = (second & 0x18) !== 0x08 && (second & 0x06) === 0x02;
  const hasRates = (third & 0xf0) !== 0xf0 && (third & 0xf0) !== 0 && (third & 0x0c) !== 0x0c;
  return isSynchronized && isLayer3 && hasRates;
}
