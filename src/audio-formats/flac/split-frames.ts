import { AudioError } from "../audio-error.ts";
import { type FrameHead, readFrameHead } from "./frame-head.ts";
import type { StreamInfo } from "./stream-info.ts";

/** The decoder takes no longer ones as a whole. */
const FRAME_BYTES_MAX = 8 * 65_535;
/** Beside its samples: the heads of the frame and of its channels, and the sum. */
const AROUND_BYTES_MAX = 1024;
const CRC16_POLYNOMIAL = 0x8005;

export interface FlacFrame {
  readonly bytes: Uint8Array;
  /** Of each channel, as the frame says. */
  readonly samples: number;
}

/**
 * The frames of a FLAC file from `place` on; the last one may have something behind it. Each byte is looked at once.
 * Throws `AudioError`, of reason `unsupported` where frames may be longer than the decoder takes.
 */
export function* splitFrames(bytes: Uint8Array, place: number, info: StreamInfo): Generator<FlacFrame> {
  const frameBytesMax = (info.blockSamplesMax * info.channels * (info.bitsPerSample + 1)) / 8 + AROUND_BYTES_MAX;
  if (frameBytesMax > FRAME_BYTES_MAX)
    throw new AudioError("unsupported", "Unsupported format: FLAC of very long frames");
  let left = info.samples ?? Number.POSITIVE_INFINITY;
  for (let start = place; start < bytes.length && left > 0; ) {
    const head = readFrameHead(bytes, start);
    if (head === null || !fits(head, info)) throw bytes.length - start < AROUND_BYTES_MAX ? cutOff() : damaged();
    left -= head.samples;
    const end = left > 0 ? frameEnd(bytes, start) : Math.min(bytes.length, start + FRAME_BYTES_MAX);
    yield { bytes: bytes.subarray(start, end), samples: head.samples };
    start = end;
  }
  if (info.samples !== null && left > 0) throw cutOff();
}

function fits({ samples, channels, bitsPerSample }: FrameHead, info: StreamInfo): boolean {
  const hasBits = bitsPerSample === null || bitsPerSample === info.bitsPerSample;
  return hasBits && samples <= info.blockSamplesMax && channels === info.channels;
}

/** Where the sum of all bytes since the start is right, and another frame or nothing follows. */
function frameEnd(bytes: Uint8Array, start: number): number {
  const last = Math.min(bytes.length, start + FRAME_BYTES_MAX);
  let sum = 0;
  for (let end = start + 1; end <= last; end += 1) {
    sum = ((sum << 8) & 0xffff) ^ (CRC16_TABLE[((sum >> 8) ^ (bytes[end - 1] ?? 0)) & 0xff] ?? 0);
    if (sum === 0 && (end === bytes.length || readFrameHead(bytes, end) !== null)) return end;
  }
  throw last === bytes.length ? cutOff() : damaged();
}

const CRC16_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : CRC16_POLYNOMIAL);
  return sum;
});

export function damaged(): AudioError {
  return new AudioError("broken", "The sound of the FLAC file is damaged");
}

function cutOff(): AudioError {
  return new AudioError("broken", "The FLAC file is cut off: sound that it announces is not there");
}
