import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { Resampler } from "../../audio/resampler.ts";
import { oneChannel } from "../one-channel.ts";
import { DECODED_RATE_HZ } from "../recording.ts";
import { damaged, splitFrames } from "./split-frames.ts";
import { readStreamInfo } from "./stream-info.ts";

/** What a file begins with that has nothing before its sound but 34 bytes about itself. */
const FILE_START = Buffer.from("fLaC\x80\0\0\x22", "latin1");

/**
 * Decodes a FLAC file, frame by frame, by libFLAC. Throws `AudioError`.
 * The decoder is not given back: it may not be used after a damaged frame, and its memory goes with the thread.
 */
export async function* decodeFlac(bytes: Uint8Array): AsyncGenerator<Int16Array> {
  const { info, place } = readStreamInfo(bytes);
  const decoder = new FLACDecoder();
  await decoder.ready;
  await decoder.decodeFrames([Buffer.concat([FILE_START, info.bytes])]);
  const resampler = new Resampler(info.sampleRateHz, DECODED_RATE_HZ);
  for (const frame of splitFrames(bytes, place, info)) {
    const { channelData, samplesDecoded } = await decoder.decodeFrames([frame.bytes]);
    if (samplesDecoded !== frame.samples) throw damaged();
    yield resampler.push(oneChannel(channelData));
  }
  yield resampler.end();
}
