import { AudioError } from "../audio-error.ts";
import { BitReader } from "./bit-reader.ts";
import { readSubframe } from "./read-subframe.ts";
import type { StreamInfo } from "./stream-info.ts";

const SYNC = 0b11_1111_1111_1110;
const LEFT_AND_SIDE = 8;
const SIDE_AND_RIGHT = 9;
const MIDDLE_AND_SIDE = 10;
const CRC16_POLYNOMIAL = 0x8005;
const BITS_BY_CODE: readonly (number | null)[] = [null, 8, 12, null, 16, 20, 24, null];

export interface FlacFrame {
  /** By channel. */
  readonly samples: readonly Int32Array[];
  readonly bitsPerSample: number;
  /** Where the next one begins. */
  readonly end: number;
}

/**
 * The frame that begins at `place`. Throws `AudioError` where none does, and `BitsExhausted` where the bytes end within
 * it.
 */
export function readFrame(bytes: Uint8Array, place: number, info: StreamInfo): FlacFrame {
  const bits = new BitReader(bytes, place);
  if (bits.read(14) !== SYNC || bits.read(1) !== 0) throw broken();
  bits.read(1);
  const sizeCode = bits.read(4);
  const rateCode = bits.read(4);
  const assignment = bits.read(4);
  const bitsCode = bits.read(3);
  if (bits.read(1) !== 0 || assignment > MIDDLE_AND_SIDE) throw broken();
  readNumber(bits);
  const length = readLength(bits, sizeCode);
  if (rateCode >= 12) bits.read(rateCode === 12 ? 8 : 16);
  bits.read(8); // The sum of the head; that of the whole frame covers it.
  const bitsPerSample = bitsCode === 0 ? info.bitsPerSample : (BITS_BY_CODE[bitsCode] ?? null);
  const channels = assignment < LEFT_AND_SIDE ? assignment + 1 : 2;
  if (bitsPerSample === null || length > info.blockSamplesMax || channels !== info.channels) throw broken();
  const samples = Array.from({ length: channels }, (_, channel) =>
    readSubframe(bits, length, bitsPerSample + (holdsDifference(assignment, channel) ? 1 : 0)),
  );
  bits.align();
  const sum = checksum(bytes.subarray(place, bits.place));
  if (bits.read(16) !== sum) throw broken();
  restore(samples, assignment);
  return { samples, bitsPerSample, end: bits.place };
}

/** The number of the frame, or of its first sample: like UTF-8, but longer. Nobody needs it here. */
function readNumber(bits: BitReader): void {
  const first = bits.read(8);
  const leading = Math.clz32(~(first << 24));
  if (leading === 1 || leading > 7) throw broken();
  for (let more = 1; more < leading; more += 1) if (bits.read(8) >> 6 !== 0b10) throw broken();
}

function readLength(bits: BitReader, code: number): number {
  if (code === 1) return 192;
  if (code >= 2 && code <= 5) return 576 * 2 ** (code - 2);
  if (code === 6) return bits.read(8) + 1;
  if (code === 7) return bits.read(16) + 1;
  if (code >= 8) return 256 * 2 ** (code - 8);
  throw broken();
}

function holdsDifference(assignment: number, channel: number): boolean {
  return assignment === SIDE_AND_RIGHT ? channel === 0 : assignment >= LEFT_AND_SIDE && channel === 1;
}

/** Left and right out of what was stored in their place. */
function restore([first, second]: readonly Int32Array[], assignment: number): void {
  if (first === undefined || second === undefined || assignment < LEFT_AND_SIDE) return;
  for (let index = 0; index < first.length; index += 1) {
    const [a, b] = [first[index] ?? 0, second[index] ?? 0];
    if (assignment === LEFT_AND_SIDE) second[index] = a - b;
    else if (assignment === SIDE_AND_RIGHT) first[index] = a + b;
    else {
      const sum = a * 2 + (b & 1);
      first[index] = (sum + b) >> 1;
      second[index] = (sum - b) >> 1;
    }
  }
}

const CRC16_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : CRC16_POLYNOMIAL);
  return sum;
});

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = ((sum << 8) & 0xffff) ^ (CRC16_TABLE[((sum >> 8) ^ byte) & 0xff] ?? 0);
  return sum;
}

function broken(): AudioError {
  return new AudioError("broken", "The sound of the FLAC file is damaged");
}
