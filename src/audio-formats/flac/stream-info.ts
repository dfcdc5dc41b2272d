import { AudioError } from "../audio-error.ts";
import { BitReader } from "./bit-reader.ts";

/** What a FLAC file says of itself. */
export interface StreamInfo {
  readonly blockSamplesMax: number;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitsPerSample: number;
  /** Of each channel; null where it was not known when the file was written. */
  readonly samples: number | null;
}

const MARKER_BYTES = 4;
const BLOCK_HEAD_BYTES = 4;
const STREAM_INFO_BYTES = 34;
const STREAM_INFO_TYPE = 0;

/** Reads what stands before the sound, and where that begins. */
export function readStreamInfo(bytes: Uint8Array): { readonly info: StreamInfo; readonly place: number } {
  let place = MARKER_BYTES;
  let info: StreamInfo | null = null;
  for (let isLast = false; !isLast; ) {
    if (place + BLOCK_HEAD_BYTES > bytes.length) throw new AudioError("broken", "The FLAC file ends within its header");
    const head = new BitReader(bytes, place);
    isLast = head.read(1) === 1;
    const type = head.read(7);
    const length = head.read(24);
    place += BLOCK_HEAD_BYTES;
    if (type === STREAM_INFO_TYPE && info === null) {
      if (length < STREAM_INFO_BYTES || place + length > bytes.length)
        throw new AudioError("broken", "The FLAC file ends within its header");
      info = readInfo(new BitReader(bytes, place));
    }
    place += length;
  }
  if (info === null) throw new AudioError("broken", "The FLAC file does not say what its samples are");
  return { info, place };
}

function readInfo(bits: BitReader): StreamInfo {
  bits.read(16);
  const blockSamplesMax = bits.read(16);
  bits.read(24);
  bits.read(24);
  const sampleRateHz = bits.read(20);
  const channels = bits.read(3) + 1;
  const bitsPerSample = bits.read(5) + 1;
  const samples = bits.read(4) * 2 ** 32 + bits.read(32);
  if (blockSamplesMax < 16 || sampleRateHz < 1000)
    throw new AudioError("broken", "The header of the FLAC file is not valid");
  if (bitsPerSample > 24) throw new AudioError("unsupported", "Unsupported format: FLAC of more than 24 bits");
  return { blockSamplesMax, sampleRateHz, channels, bitsPerSample, samples: samples === 0 ? null : samples };
}
