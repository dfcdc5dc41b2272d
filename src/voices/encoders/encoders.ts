import { pcmBytes } from "../../audio/pcm.ts";
import { wavHeader } from "../../audio/wav.ts";
import type { Encoder } from "../ports.ts";

/** The samples themselves: 16 bit, little-endian. */
export const encodePcm16: Encoder = async function* (pcm) {
  for await (const samples of pcm) yield pcmBytes(samples);
};

/** One WAV file. Its header comes first, so it cannot say how long the sound will be. */
export const encodeWav: Encoder = async function* (pcm, sampleRateHz) {
  let isBegun = false;
  for await (const samples of pcm) {
    if (!isBegun) yield wavHeader(sampleRateHz, null);
    isBegun = true;
    yield pcmBytes(samples);
  }
};
