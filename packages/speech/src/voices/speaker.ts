import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { FrameGatherer } from "../audio/pcm.ts";
import type { Encoder, VoiceEngine } from "./ports.ts";
import { sentenceSamples } from "./sentence-samples.ts";

/** Limit of the spoken sound of one answer, in seconds. */
export const SPOKEN_SECONDS_MAX = 15 * 60;
/** A fifth of a second of sound at 24 kHz. Divisible by 3, so that the deltas' base64 texts can be joined. */
export const DELTA_BYTES_MAX = 9600;

/**
 * Speaks sentences in order and yields events with their sound and transcript. Never throws. When `signal` aborts, it
 * ends early and without `audio_done`.
 */
export type Speak = (sentences: AsyncIterable<string>, signal: AbortSignal) => AsyncIterable<readonly ModelEvent[]>;

/** Voice, format and limits for one answer. */
export interface SpeakerOptions {
  readonly engine: VoiceEngine;
  /** Null for the engine's default. */
  readonly voice: string | null;
  readonly encode: Encoder;
  readonly sampleRateHz: number;
  /** Limits the sentences that are spoken at once, over all answers. */
  readonly slots: Semaphore;
  /** Called with the error that ends the sound before the text. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * If the voice fails, the sound ends there and what was spoken stays. Skipping a sentence would make the sound differ
 * from the text. The transcript events say how far the sound got.
 */
export function createSpeaker(options: SpeakerOptions): Speak {
  return (sentences, signal) => new Speaker(options, signal).speak(sentences);
}

class Speaker {
  readonly #options: SpeakerOptions;
  readonly #signal: AbortSignal;
  /** Transcript events of sentences whose sound has begun; not yielded yet. */
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
   * The samples of all sentences at the requested rate. If the voice fails, they just end, so that the encoder can
   * finish its output.
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

  #sentence(sentence: string): AsyncGenerator<Int16Array> {
    const { engine, voice, slots, sampleRateHz } = this.#options;
    const onStart = (): void => this.#addWords(sentence);
    return sentenceSamples(sentence, { engine, voice, slots, sampleRateHz, onStart }, this.#signal);
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
