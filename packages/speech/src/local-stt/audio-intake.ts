import { BYTES_PER_SAMPLE, FrameGatherer, samplesOf } from "../audio/pcm.ts";
import { Resampler } from "../audio/resampler.ts";
import { LIVE_SEGMENTS, Segmenter, type SpeechSegment } from "../recognition/segmenter.ts";
import { SPEECH_RATE_HZ } from "../recognition/speech-engine.ts";

/** Sample rate of a stream whose chunks set none. */
const DEFAULT_RATE_HZ = 16_000;

/**
 * Turns the bytes of a stream into segments of speech. A sample may be split between two chunks, and the rate may
 * change.
 */
export class AudioIntake {
  readonly #frames = new FrameGatherer(BYTES_PER_SAMPLE);
  readonly #segmenter = new Segmenter(LIVE_SEGMENTS);
  #rateHz = DEFAULT_RATE_HZ;
  #resampler = new Resampler(DEFAULT_RATE_HZ, SPEECH_RATE_HZ);
  #receivedBytes = 0;
  #receivedMs = 0;

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Length of the received audio, in milliseconds. */
  get receivedMs(): number {
    return this.#receivedMs;
  }

  /** Whether the received bytes end within a sample. */
  get isWithinSample(): boolean {
    return this.#receivedBytes % BYTES_PER_SAMPLE !== 0;
  }

  /** Adds bytes and returns the segments that they complete. If `rateHz` is null, the rate stays the same. */
  push(bytes: Uint8Array, rateHz: number | null): SpeechSegment[] {
    const before = rateHz === null || rateHz === this.#rateHz ? [] : this.#changeRate(rateHz);
    const samples = samplesOf(this.#frames.push(bytes));
    this.#receivedBytes += bytes.length;
    this.#receivedMs += (samples.length * 1000) / this.#rateHz;
    return [...before, ...this.#segmenter.push(this.#resampler.push(samples))];
  }

  /** Ends the open segment and returns what is not returned yet. */
  cut(): SpeechSegment[] {
    const segments = this.#segmenter.push(this.#resampler.end());
    this.#resampler = new Resampler(this.#rateHz, SPEECH_RATE_HZ);
    const last = this.#segmenter.cut();
    return last === null ? segments : [...segments, last];
  }

  /** The open segment so far; null if nobody is speaking. */
  get open(): Int16Array | null {
    return this.#segmenter.open;
  }

  /** Ends the open segment: no segment spans two rates. */
  #changeRate(rateHz: number): SpeechSegment[] {
    const segments = this.cut();
    this.#rateHz = rateHz;
    this.#resampler = new Resampler(rateHz, SPEECH_RATE_HZ);
    return segments;
  }
}
