/** The header of a FLAC frame. */
export interface FrameHead {
  /** Samples per channel. */
  readonly samples: number;
  readonly channels: number;
  /** Null if only the file's header contains it. */
  readonly bitsPerSample: number | null;
}

const LEFT_AND_SIDE = 8;
const MIDDLE_AND_SIDE = 10;
const BITS_BY_CODE: readonly (number | null)[] = [null, 8, 12, null, 16, 20, 24, 32];
const RESERVED_BITS = 3;
const SIZE_BYTES_BY_CODE: Readonly<Record<number, number>> = { 6: 1, 7: 2 };
const RATE_BYTES_BY_CODE: Readonly<Record<number, number>> = { 12: 1, 13: 2, 14: 2 };
const CRC8_POLYNOMIAL = 0x07;

/** Reads the header of the frame at `place`; null if no frame begins there. */
export function readFrameHead(bytes: Uint8Array, place: number): FrameHead | null {
  const [sync0 = 0, sync1 = 0, lengths = 0, shape = 0, number = 0] = bytes.subarray(place, place + 5);
  if (sync0 !== 0xff || (sync1 & 0xfe) !== 0xf8 || (shape & 1) !== 0) return null;
  const sizeCode = lengths >> 4;
  const rateCode = lengths & 15;
  const assignment = shape >> 4;
  const bitsCode = (shape >> 1) & 7;
  if (sizeCode === 0 || rateCode === 15 || assignment > MIDDLE_AND_SIDE || bitsCode === RESERVED_BITS) return null;
  const sizePlace = place + 4 + numberBytes(number);
  const sizeBytes = SIZE_BYTES_BY_CODE[sizeCode] ?? 0;
  const end = sizePlace + sizeBytes + (RATE_BYTES_BY_CODE[rateCode] ?? 0);
  if (end >= bytes.length || checksum(bytes.subarray(place, end)) !== bytes[end]) return null;
  return {
    samples: sizeBytes === 0 ? usualLength(sizeCode) : numberIn(bytes.subarray(sizePlace, sizePlace + sizeBytes)) + 1,
    channels: assignment < LEFT_AND_SIDE ? assignment + 1 : 2,
    bitsPerSample: BITS_BY_CODE[bitsCode] ?? null,
  };
}

/** Length of the frame or sample number, which is coded like UTF-8 with up to 7 bytes. Its value is not needed. */
function numberBytes(first: number): number {
  return first < 0x80 ? 1 : Math.clz32(~(first << 24));
}

function numberIn(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

function usualLength(code: number): number {
  if (code === 1) return 192;
  return code < 8 ? 576 * 2 ** (code - 2) : 256 * 2 ** (code - 8);
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ ((sum & 0x80) === 0 ? 0 : CRC8_POLYNOMIAL)) & 0xff;
  }
  return sum;
}
