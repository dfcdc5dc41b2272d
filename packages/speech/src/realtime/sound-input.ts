import type { RealtimeAudioFormat } from "@antiphon/contracts/audio/types.ts";
import { g711Samples } from "../audio/g711.ts";
import { BYTES_PER_SAMPLE, FrameGatherer, samplesOf } from "../audio/pcm.ts";
import { Resampler } from "../audio/resampler.ts";
import { SPEECH_RATE_HZ } from "../recognition/speech-engine.ts";

const PCM_RATE_HZ = 24_000;
const G711_RATE_HZ = 8000;

/** Turns the bytes of a client into samples for the engine. A sample may be split between two pieces. */
export class SoundInput {
  readonly #format: RealtimeAudioFormat;
  readonly #rateHz: number;
  readonly #frames: FrameGatherer;
  #resampler: Resampler;

  constructor(format: RealtimeAudioFormat) {
    this.#format = format;
    this.#rateHz = format.type === "audio/pcm" ? (format.rate ?? PCM_RATE_HZ) : G711_RATE_HZ;
    this.#frames = new FrameGatherer(format.type === "audio/pcm" ? BYTES_PER_SAMPLE : 1);
    this.#resampler = new Resampler(this.#rateHz, SPEECH_RATE_HZ);
  }

  /** The bytes of a second. */
  get bytesPerSecond(): number {
    return this.#rateHz * (this.#format.type === "audio/pcm" ? BYTES_PER_SAMPLE : 1);
  }

  push(bytes: Uint8Array): Int16Array {
    return this.#resampler.push(this.#samplesIn(this.#frames.push(bytes)));
  }

  /** Ends the sound, and returns what is not returned yet. Another sound may follow. */
  end(): Int16Array {
    const rest = this.#resampler.end();
    this.#resampler = new Resampler(this.#rateHz, SPEECH_RATE_HZ);
    return rest;
  }

  #samplesIn(bytes: Uint8Array): Int16Array {
    switch (this.#format.type) {
      case "audio/pcm":
        return samplesOf(bytes);
      case "audio/pcmu":
        return g711Samples(bytes, "mulaw");
      case "audio/pcma":
        return g711Samples(bytes, "alaw");
    }
  }
}
