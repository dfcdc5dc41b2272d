import type { StreamRates } from "@antiphon/speech/cloud-stt/ports.ts";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

export interface StreamLimits {
  readonly streamsPerMinute: number;
  readonly soundSecondsPerMinute: number;
  /** How long a key over its limit is refused, in milliseconds. */
  readonly waitMs: number;
}

const WINDOW_SECONDS = 60;

/**
 * Limits per minute for streams and their audio, counted in this process. A key's minute starts with its first stream.
 */
export class MemoryStreamRates implements StreamRates {
  readonly #streams: RateLimiterMemory;
  /** Counts milliseconds of audio. */
  readonly #sound: RateLimiterMemory;

  constructor({ streamsPerMinute, soundSecondsPerMinute, waitMs }: StreamLimits) {
    const common = { duration: WINDOW_SECONDS, blockDuration: waitMs / 1000 };
    this.#streams = new RateLimiterMemory({ ...common, keyPrefix: "streams", points: streamsPerMinute });
    this.#sound = new RateLimiterMemory({ ...common, keyPrefix: "sound", points: soundSecondsPerMinute * 1000 });
  }

  async takeStream(keyId: string): Promise<number | null> {
    return (await waitOf(this.#sound, keyId)) ?? take(this.#streams, keyId, 1);
  }

  takeSound(keyId: string, ms: number): Promise<number | null> {
    return take(this.#sound, keyId, ms);
  }

  async waitMs(keyId: string): Promise<number | null> {
    return (await waitOf(this.#sound, keyId)) ?? waitOf(this.#streams, keyId);
  }
}

/** The wait starts with the first request over the limit. Later ones do not extend it. */
async function take(counter: RateLimiterMemory, keyId: string, amount: number): Promise<number | null> {
  try {
    await counter.consume(keyId, amount);
    return null;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext;
    throw refusal;
  }
}

async function waitOf(counter: RateLimiterMemory, keyId: string): Promise<number | null> {
  const count = await counter.get(keyId);
  if (count === null || count.consumedPoints <= counter.points || count.msBeforeNext <= 0) return null;
  return count.msBeforeNext;
}
