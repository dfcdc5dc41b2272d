import { Resampler } from "../../audio/resampler.ts";
import { mixedDown } from "../../audio/sample-encoding.ts";
import { AudioError } from "../audio-error.ts";
import { DECODED_RATE_HZ } from "../recording.ts";
import { BitsExhausted } from "./bit-reader.ts";
import { type FlacFrame, readFrame } from "./read-frame.ts";
import { readStreamInfo, type StreamInfo } from "./stream-info.ts";

/** Decodes a FLAC file, frame by frame. Throws `AudioError`. */
export function* decodeFlac(bytes: Uint8Array): Generator<Int16Array> {
  const { info, place: first } = readStreamInfo(bytes);
  const resampler = new Resampler(info.sampleRateHz, DECODED_RATE_HZ);
  const isWhole = (samples: number): boolean => info.samples !== null && samples >= info.samples;
  let samples = 0;
  for (let place = first; place < bytes.length && !isWhole(samples); ) {
    const frame = readWholeFrame(bytes, place, info);
    samples += frame.samples[0]?.length ?? 0;
    place = frame.end;
    yield resampler.push(oneChannel(frame));
  }
  if (info.samples !== null && samples < info.samples) throw cutOff();
  yield resampler.end();
}

function readWholeFrame(bytes: Uint8Array, place: number, info: StreamInfo): FlacFrame {
  try {
    return readFrame(bytes, place, info);
  } catch (error) {
    throw error instanceof BitsExhausted ? cutOff() : error;
  }
}

function oneChannel({ samples, bitsPerSample }: FlacFrame): Int16Array {
  const channels = samples.length;
  const interleaved = new Int16Array((samples[0]?.length ?? 0) * channels);
  const shift = bitsPerSample - 16;
  for (const [channel, values] of samples.entries())
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index] ?? 0;
      interleaved[index * channels + channel] = shift >= 0 ? value >> shift : value << -shift;
    }
  return mixedDown(interleaved, channels);
}

function cutOff(): AudioError {
  return new AudioError("broken", "The FLAC file is cut off: sound that it announces is not there");
}
