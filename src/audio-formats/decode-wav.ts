import { Resampler } from "../audio/resampler.ts";
import { WavError, WavReader } from "../audio/wav.ts";
import { AudioError } from "./audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "./recording.ts";

/** Reads WAV files of all common kinds of samples, without any help. */
export async function* decodeWav(recording: Recording, signal: AbortSignal): AsyncGenerator<Int16Array> {
  const reader = new WavReader();
  let resampler: Resampler | null = null;
  for await (const bytes of recording.read()) {
    signal.throwIfAborted();
    const samples = readSome(reader, bytes);
    if (reader.format === null) continue;
    resampler ??= new Resampler(reader.format.sampleRateHz, DECODED_RATE_HZ);
    yield resampler.push(samples);
  }
  if (resampler === null) throw new AudioError("broken", "The WAV file ends before its sound begins");
  if (reader.missingBytes > 0)
    throw new AudioError("broken", "The WAV file is cut off: sound that it announces is not there");
  yield resampler.end();
}

function readSome(reader: WavReader, bytes: Uint8Array): Int16Array {
  try {
    return reader.push(bytes);
  } catch (error) {
    if (error instanceof WavError)
      throw new AudioError("broken", `The WAV file cannot be read: ${error.message}`, error);
    throw error;
  }
}
