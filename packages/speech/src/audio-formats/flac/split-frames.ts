import { AudioError } from "../audio-error.ts";
import { type FrameHead, readFrameHead } from "./frame-head.ts";
import type { StreamInfo } from "./stream-info.ts";

/** The longest frame that the decoder accepts. */
const FRAME_BYTES_MAX = 8 * 65_535;
/** Limit of a frame's bytes besides its samples: the headers of the frame and its channels, and the checksum. */
const AROUND_BYTES_MAX = 1024;
const CRC16_POLYNOMIAL = 0x8005;

export interface FlacFrame {
  readonly bytes: Uint8Array;
  /** Samples per channel, according to the frame. */
  readonly samples: number;
}

/**
 * Splits a FLAC file into frames from `place` on, in one pass. The last frame may include bytes after the sound. Throws
 * `AudioError`, of reason `unsupported` if frames may be longer than the decoder accepts.
 */
export function* splitFrames(bytes: Uint8Array, place: number, info: StreamInfo): Generator<FlacFrame> {
  const frameBytesMax = (info.blockSamplesMax * info.channels * (info.bitsPerSample + 1)) / 8 + AROUND_BYTES_MAX;
  if (frameBytesMax > FRAME_BYTES_MAX)
    throw new AudioError("unsupported", "Unsupported format: FLAC with very long frames");
  let samplesLeft = info.samples ?? Number.POSITIVE_INFINITY;
  for (let start = place; start < bytes.length && samplesLeft > 0; ) {
    const head = readFrameHead(bytes, start);
    if (head === null || !fits(head, info)) throw bytes.length - start < AROUND_BYTES_MAX ? cutOff() : brokenFlac();
    samplesLeft -= head.samples;
    const end = samplesLeft > 0 ? frameEnd(bytes, start) : Math.min(bytes.length, start + FRAME_BYTES_MAX);
    yield { bytes: bytes.subarray(start, end), samples: head.samples };
    start = end;
  }
  if (info.samples !== null && samplesLeft > 0) throw cutOff();
}

function fits({ samples, channels, bitsPerSample }: FrameHead, info: StreamInfo): boolean {
  const hasBits = bitsPerSample === null || bitsPerSample === info.bitsPerSample;
  return hasBits && samples <= info.blockSamplesMax && channels === info.channels;
}

/** The end of the frame: its checksum is right there, and another frame or the end of the file follows. */
function frameEnd(bytes: Uint8Array, start: number): number {
  const last = Math.min(bytes.length, start + FRAME_BYTES_MAX);
  let sum = 0;
  for (let end = start + 1; end <= last; end += 1) {
    sum = ((sum << 8) & 0xffff) ^ (CRC16_TABLE[((sum >> 8) ^ (bytes[end - 1] ?? 0)) & 0xff] ?? 0);
    if (sum === 0 && (end === bytes.length || readFrameHead(bytes, end) !== null)) return end;
  }
  throw last === bytes.length ? cutOff() : brokenFlac();
}

const CRC16_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : CRC16_POLYNOMIAL);
  return sum;
});

export function brokenFlac(): AudioError {
  return new AudioError("broken", "The sound in the FLAC file is damaged");
}

function cutOff(): AudioError {
  return new AudioError("broken", "The FLAC file is cut off: it holds less sound than its header says");
}
