import { AudioError } from "../audio-error.ts";

/** The stream information of a FLAC file. */
export interface StreamInfo {
  readonly blockSamplesMax: number;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitsPerSample: number;
  /** Samples per channel; null if the number was unknown when the file was written. */
  readonly samples: number | null;
  /** The stream information as stored in the file. */
  readonly bytes: Uint8Array;
}

const MARKER_BYTES = 4;
const BLOCK_HEAD_BYTES = 4;
const STREAM_INFO_BYTES = 34;
const STREAM_INFO_TYPE = 0;
/** The sample sizes that the decoder scales correctly. */
const BITS_PER_SAMPLE: ReadonlySet<number> = new Set([8, 16, 24]);

/** Reads the metadata of a FLAC file and finds the start of the sound. Throws `AudioError`. */
export function readStreamInfo(file: Uint8Array): { readonly info: StreamInfo; readonly place: number } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  let place = MARKER_BYTES;
  let info: StreamInfo | null = null;
  for (let isLast = false; !isLast; ) {
    if (place + BLOCK_HEAD_BYTES > bytes.length) throw new AudioError("broken", "The FLAC file ends within its header");
    const kind = bytes.readUInt8(place);
    const length = bytes.readUIntBE(place + 1, 3);
    isLast = kind >= 0x80;
    place += BLOCK_HEAD_BYTES;
    if ((kind & 0x7f) === STREAM_INFO_TYPE && info === null) {
      if (length < STREAM_INFO_BYTES || place + length > bytes.length)
        throw new AudioError("broken", "The FLAC file ends within its header");
      info = readInfo(bytes.subarray(place, place + STREAM_INFO_BYTES));
    }
    place += length;
  }
  if (info === null) throw new AudioError("broken", "The FLAC file has no stream information");
  return { info, place };
}

/** Block and frame lengths come first, then the rate in 20 bits, channels in 3, sample size in 5, and samples in 36. */
function readInfo(bytes: Buffer): StreamInfo {
  const blockSamplesMax = bytes.readUInt16BE(2);
  const shape = bytes.readUInt32BE(10);
  const sampleRateHz = shape >>> 12;
  const channels = ((shape >>> 9) & 7) + 1;
  const bitsPerSample = ((shape >>> 4) & 31) + 1;
  const samples = (shape & 15) * 2 ** 32 + bytes.readUInt32BE(14);
  if (blockSamplesMax < 16 || sampleRateHz < 1000)
    throw new AudioError("broken", "The header of the FLAC file is not valid");
  if (!BITS_PER_SAMPLE.has(bitsPerSample))
    throw new AudioError("unsupported", `Unsupported format: FLAC with ${bitsPerSample} bits per sample`);
  return { blockSamplesMax, sampleRateHz, channels, bitsPerSample, samples: samples === 0 ? null : samples, bytes };
}
