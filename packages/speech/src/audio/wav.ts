import { BYTES_PER_SAMPLE, FrameGatherer } from "./pcm.ts";
import { BYTES_OF, mixedDown, type SampleEncoding, samplesIn } from "./sample-encoding.ts";

export const WAV_HEADER_BYTES = 44;
/** The length in a header that was written before the length was known. */
const UNKNOWN_LENGTH = 0xffff_ffff;
/** Values from here on mean an unknown length; programs that write streams use them. */
const LENGTH_MAX = 0x7fff_0000;
/** Limit of the bytes before the sound. */
const PREFACE_BYTES_MAX = 64 * 1024;

const FORMAT_PCM = 1;
const FORMAT_FLOAT = 3;
const FORMAT_EXTENSIBLE = 0xfffe;

/** Encodings by the format number and the bits of a sample. */
const ENCODINGS: ReadonlyMap<string, SampleEncoding> = new Map([
  [`${FORMAT_PCM} 8`, "uint8"],
  [`${FORMAT_PCM} 16`, "int16"],
  [`${FORMAT_PCM} 24`, "int24"],
  [`${FORMAT_PCM} 32`, "int32"],
  [`${FORMAT_FLOAT} 32`, "float32"],
  [`${FORMAT_FLOAT} 64`, "float64"],
]);

/**
 * The header of a WAV file with 16-bit samples; several channels are interleaved. `dataBytes` is null if the length is
 * not known yet, as in a stream.
 */
export function wavHeader(sampleRateHz: number, dataBytes: number | null, channels = 1): Uint8Array {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(dataBytes === null ? UNKNOWN_LENGTH : dataBytes + WAV_HEADER_BYTES - 8, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(FORMAT_PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * channels * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(channels * BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes ?? UNKNOWN_LENGTH, 40);
  return header;
}

/** The bytes are not a WAV file, or one that cannot be read. */
export class WavError extends Error {
  override readonly name: string = "WavError";
}

/** A WAV file with an unsupported encoding, such as mu-law or ADPCM. */
export class WavEncodingError extends WavError {
  override readonly name = "WavEncodingError";
}

/** The format of a WAV file's samples. */
export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly encoding: SampleEncoding;
}

/** Reads a WAV file while its bytes arrive. Mixes several channels down to one. */
export class WavReader {
  #preface = Buffer.alloc(0);
  #format: WavFormat | null = null;
  #frames: FrameGatherer | null = null;
  #bytesLeft = 0;

  /** Null until the header is complete. */
  get format(): WavFormat | null {
    return this.#frames === null ? null : this.#format;
  }

  /** How many bytes of the sound are still missing according to the header; 0 if it gives no length. */
  get missingBytes(): number {
    return Number.isFinite(this.#bytesLeft) ? this.#bytesLeft : 0;
  }

  /** Adds bytes and returns the samples that they complete. Throws `WavError`. */
  push(bytes: Uint8Array): Int16Array {
    if (this.#frames !== null) return this.#read(bytes);
    this.#preface = Buffer.concat([this.#preface, bytes]);
    const start = this.#readHeader();
    if (start !== null) return this.#read(this.#preface.subarray(start));
    if (this.#preface.length > PREFACE_BYTES_MAX) throw new WavError("the WAV header is too long");
    return new Int16Array(0);
  }

  /** Where the sound begins; null while the header is incomplete. */
  #readHeader(): number | null {
    const preface = this.#preface;
    if (preface.length < 12) return null;
    if (tagAt(preface, 0) !== "RIFF" || tagAt(preface, 8) !== "WAVE") throw new WavError("this is not a WAV file");
    let place = 12;
    while (place + 8 <= preface.length) {
      const tag = tagAt(preface, place);
      const length = preface.readUInt32LE(place + 4);
      place += 8;
      if (tag === "data") return this.#begin(place, length);
      if (tag === "fmt ") {
        if (preface.length < place + length) return null;
        this.#format = readFormat(preface.subarray(place, place + length));
      }
      place += length + (length % 2);
    }
    return null;
  }

  #begin(place: number, length: number): number {
    if (this.#format === null) throw new WavError("the WAV file has no valid format description");
    const { channels, encoding } = this.#format;
    this.#frames = new FrameGatherer(channels * BYTES_OF[encoding]);
    this.#bytesLeft = length === 0 || length >= LENGTH_MAX ? Number.POSITIVE_INFINITY : length;
    return place;
  }

  #read(bytes: Uint8Array): Int16Array {
    if (this.#frames === null || this.#format === null) return new Int16Array(0);
    const sound = bytes.subarray(0, Math.min(bytes.length, this.#bytesLeft)); // Other chunks may follow the sound.
    this.#bytesLeft -= sound.length;
    return oneChannel(this.#frames.push(sound), this.#format);
  }
}

function tagAt(bytes: Buffer, place: number): string {
  return bytes.toString("latin1", place, place + 4);
}

function readFormat(chunk: Buffer): WavFormat {
  if (chunk.length < 16) throw new WavError("the WAV file has no valid format description");
  const tag = chunk.readUInt16LE(0);
  const format = tag === FORMAT_EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const channels = chunk.readUInt16LE(2);
  const sampleRateHz = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  if (channels < 1 || channels > 16 || sampleRateHz < 1000 || sampleRateHz > 768_000)
    throw new WavError(`a WAV file of ${channels} channels at ${sampleRateHz} Hz cannot be read`);
  const encoding = ENCODINGS.get(`${format} ${bits}`);
  if (encoding !== undefined) return { sampleRateHz, channels, encoding };
  throw new WavEncodingError(`a WAV file of format ${format} with ${bits} bits cannot be read`);
}

function oneChannel(frames: Uint8Array, { channels, encoding }: WavFormat): Int16Array {
  return mixedDown(samplesIn(frames, encoding), channels);
}
