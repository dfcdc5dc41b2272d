import { setImmediate } from "node:timers/promises";
import { FrameGatherer } from "../audio/pcm.ts";
import { Resampler } from "../audio/resampler.ts";
import type { Semaphore } from "../base/limits/semaphore.ts";
import type { ModelEvent } from "../runs/ports.ts";
import type { Encoder, VoiceEngine } from "./ports.ts";

/** How long the sound of one answer may be. */
export const SPOKEN_SECONDS_MAX = 15 * 60;
/**
 * A fifth of a second of samples at 24 kHz. Divisible by 3, so that the base64 of all deltas joined is that of the
 * whole.
 */
export const DELTA_BYTES_MAX = 9600;

/** How much is computed at once; then others have their turn. Takes 2 or 3 ms. */
const PIECE_SAMPLES_MAX = 8192;

/**
 * Speaks sentences one after the other: events with their sound and words. Never throws. Ends early, without closing
 * the sound, when `signal` aborts.
 */
export type Speak = (sentences: AsyncIterable<string>, signal: AbortSignal) => AsyncIterable<readonly ModelEvent[]>;

/** How one answer is spoken. */
export interface SpeakerOptions {
  readonly engine: VoiceEngine;
  /** Null: the engine's own choice. */
  readonly voice: string | null;
  readonly encode: Encoder;
  readonly sampleRateHz: number;
  /** Sentences spoken at once, by all answers together. */
  readonly slots: Semaphore;
  /** Told why the sound ends before the text does. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * A voice that fails ends the sound, and what was spoken until then stays: to leave one sentence out and go on would
 * say something else than the text does. The events of the transcript tell how far it came.
 */
export function createSpeaker(options: SpeakerOptions): Speak {
  return (sentences, signal) => new Speaker(options, signal).speak(sentences);
}

class Speaker {
  readonly #options: SpeakerOptions;
  readonly #signal: AbortSignal;
  /** The words of sentences whose sound has begun. */
  #words: ModelEvent[] = [];
  #isBegun = false;
  #hasWords = false;

  constructor(options: SpeakerOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async *speak(sentences: AsyncIterable<string>): AsyncGenerator<readonly ModelEvent[]> {
    const { encode, sampleRateHz, onFault } = this.#options;
    try {
      const bytes = encode(this.#samples(sentences), sampleRateHz, this.#signal);
      for await (const audio of inBase64(bytes)) yield [...this.#takeWords(), { type: "audio_delta", audio }];
    } catch (fault) {
      if (!this.#signal.aborted) onFault(fault);
    }
    if (this.#signal.aborted || !this.#isBegun) return;
    yield [...this.#takeWords(), { type: "audio_done" }];
  }

  #takeWords(): readonly ModelEvent[] {
    const words = this.#words;
    this.#words = [];
    return words;
  }

  /**
   * The samples of all sentences, at the rate that was asked for. A voice that fails ends them, so that an encoder
   * still ends in order.
   */
  async *#samples(sentences: AsyncIterable<string>): AsyncGenerator<Int16Array> {
    const samplesMax = SPOKEN_SECONDS_MAX * this.#options.sampleRateHz;
    let samples = 0;
    try {
      for await (const sentence of sentences) {
        this.#isBegun = true;
        for await (const piece of this.#sentence(sentence)) {
          yield piece;
          samples += piece.length;
        }
        if (this.#signal.aborted || samples > samplesMax) return;
      }
    } catch (fault) {
      if (!this.#signal.aborted) this.#options.onFault(fault);
    }
  }

  async *#sentence(sentence: string): AsyncGenerator<Int16Array> {
    const { engine, voice, slots, sampleRateHz } = this.#options;
    const giveBack = await slots.take(this.#signal);
    try {
      let resampler: Resampler | null = null;
      for await (const chunk of engine.speak(sentence, voice, this.#signal)) {
        if (resampler === null) this.#addWords(sentence);
        resampler ??= new Resampler(chunk.sampleRateHz, sampleRateHz);
        for (let start = 0; start < chunk.samples.length; start += PIECE_SAMPLES_MAX) {
          if (start > 0) await setImmediate();
          yield resampler.push(chunk.samples.subarray(start, start + PIECE_SAMPLES_MAX));
        }
      }
      if (resampler !== null) yield resampler.end();
    } finally {
      giveBack();
    }
  }

  #addWords(sentence: string): void {
    this.#words.push({ type: "audio_transcript_delta", text: this.#hasWords ? ` ${sentence}` : sentence });
    this.#hasWords = true;
  }
}

async function* inBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const triples = new FrameGatherer(3);
  for await (const piece of pieces) {
    const bytes = triples.push(piece);
    for (let start = 0; start < bytes.length; start += DELTA_BYTES_MAX)
      yield Buffer.from(bytes.subarray(start, start + DELTA_BYTES_MAX)).toString("base64");
  }
  const rest = triples.end();
  if (rest.length > 0) yield Buffer.from(rest).toString("base64");
}
