import { setImmediate } from "node:timers/promises";
import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { Resampler } from "../audio/resampler.ts";
import type { VoiceEngine } from "./ports.ts";

/** How many samples are resampled in one turn of the event loop, which takes 2 or 3 ms. */
const PIECE_SAMPLES_MAX = 8192;

/** How a sentence is spoken. */
export interface SentenceVoice {
  readonly engine: VoiceEngine;
  /** Null for the engine's own choice. */
  readonly voice: string | null;
  /** How many sentences are spoken at the same time. */
  readonly slots: Semaphore;
  readonly sampleRateHz: number;
  /** Called when the first sound is there. */
  readonly onStart?: () => void;
}

/**
 * The samples of one sentence at the wanted rate, while it is spoken. Throws `VoiceError`. Ends early without throwing
 * when `signal` aborts.
 */
export async function* sentenceSamples(
  sentence: string,
  { engine, voice, slots, sampleRateHz, onStart }: SentenceVoice,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const giveBack = await slots.take(signal);
  try {
    let resampler: Resampler | null = null;
    for await (const chunk of engine.speak(sentence, voice, signal)) {
      if (resampler === null) onStart?.();
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
