import { setImmediate as nextTurn } from "node:timers/promises";
import { Resampler } from "../audio/resampler.ts";
import { WavEncodingError, WavError, WavReader } from "../audio/wav.ts";
import { AudioError } from "./audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "./recording.ts";

/** How much is read in one turn of the event loop: sound of a low rate grows more than sixteenfold. */
const PIECE_BYTES = 16 * 1024;

/** Decodes WAV files of all common encodings, in slices that do not block the event loop. Throws `AudioError`. */
export async function* decodeWav(recording: Recording, signal: AbortSignal): AsyncGenerator<Int16Array> {
  const reader = new WavReader();
  let resampler: Resampler | null = null;
  for await (const bytes of inPieces(recording.read())) {
    await nextTurn();
    signal.throwIfAborted();
    const samples = readSome(reader, bytes);
    if (reader.format === null) continue;
    resampler ??= new Resampler(reader.format.sampleRateHz, DECODED_RATE_HZ);
    yield resampler.push(samples);
  }
  if (resampler === null) throw new AudioError("broken", "The WAV file ends before its sound begins");
  if (reader.missingBytes > 0)
    throw new AudioError("broken", "The WAV file is cut off: it holds less sound than its header says");
  yield resampler.end();
}

async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of source)
    for (let place = 0; place < bytes.length; place += PIECE_BYTES) yield bytes.subarray(place, place + PIECE_BYTES);
}

function readSome(reader: WavReader, bytes: Uint8Array): Int16Array {
  try {
    return reader.push(bytes);
  } catch (error) {
    if (error instanceof WavEncodingError)
      throw new AudioError("unsupported", `Unsupported format: ${error.message}`, error);
    if (error instanceof WavError)
      throw new AudioError("broken", `The WAV file cannot be read: ${error.message}`, error);
    throw error;
  }
}
