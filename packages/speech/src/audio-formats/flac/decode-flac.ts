import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { Resampler } from "../../audio/resampler.ts";
import { oneChannel } from "../one-channel.ts";
import { DECODED_RATE_HZ } from "../recording.ts";
import { brokenFlac, splitFrames } from "./split-frames.ts";
import { readStreamInfo } from "./stream-info.ts";

/** The start of a FLAC file whose only metadata is the 34 bytes of stream information. */
const FILE_START = Buffer.from("fLaC\x80\0\0\x22", "latin1");

/**
 * Decodes a FLAC file frame by frame with libFLAC. Throws `AudioError`. The decoder is not freed: it must not be used
 * after a damaged frame, and its memory is freed with the thread.
 */
export async function* decodeFlac(bytes: Uint8Array): AsyncGenerator<Int16Array> {
  const { info, place } = readStreamInfo(bytes);
  const decoder = new FLACDecoder();
  await decoder.ready;
  await decoder.decodeFrames([Buffer.concat([FILE_START, info.bytes])]);
  const resampler = new Resampler(info.sampleRateHz, DECODED_RATE_HZ);
  for (const frame of splitFrames(bytes, place, info)) {
    const { channelData, samplesDecoded } = await decoder.decodeFrames([frame.bytes]);
    if (samplesDecoded !== frame.samples) throw brokenFlac();
    yield resampler.push(oneChannel(channelData));
  }
  yield resampler.end();
}
