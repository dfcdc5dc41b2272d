import type { StreamRates } from "@antiphon/speech/cloud-stt/ports.ts";
import type { CountBatches } from "./count-batches.ts";
import { CurrentMinutes } from "./current-minutes.ts";
import type { Count, CountChange } from "./ports.ts";
import { MemoryStreamRates, type StreamLimits } from "./stream-rates.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** Sound that was accepted but not counted yet. */
interface Uncounted {
  readonly endsAt: number;
  ms: number;
}

/**
 * Limits per minute for streams and their sound that all servers count together. Sound is counted by the second. If the
 * common counters do not respond, each server counts alone.
 */
export class ClusterStreamRates implements StreamRates {
  readonly #limits: StreamLimits;
  readonly #counts: CountBatches;
  readonly #alone: MemoryStreamRates;
  readonly #remainders = new CurrentMinutes<Uncounted>();

  constructor(limits: StreamLimits, counts: CountBatches) {
    this.#limits = limits;
    this.#counts = counts;
    this.#alone = new MemoryStreamRates(limits);
  }

  async takeStream(keyId: string): Promise<number | null> {
    const sound = await this.#counts.change(this.#sound(keyId, 0));
    if (sound === null) return await this.#alone.takeStream(keyId);
    if (!sound.taken) return sound.leftMs;
    const stream = await this.#counts.change(this.#streams(keyId, 1));
    return stream === null ? await this.#alone.takeStream(keyId) : waitOf(stream);
  }

  async takeSound(keyId: string, ms: number): Promise<number | null> {
    const remainder = this.#remainders.get(keyId) ?? { endsAt: Date.now() + MINUTE_MS, ms: 0 };
    this.#remainders.set(keyId, remainder);
    remainder.ms += ms;
    if (remainder.ms < SECOND_MS) return null;
    const amount = remainder.ms;
    remainder.ms = 0;
    const count = await this.#counts.change(this.#sound(keyId, amount));
    return count === null ? await this.#alone.takeSound(keyId, amount) : waitOf(count);
  }

  async waitMs(keyId: string): Promise<number | null> {
    const counts = await Promise.all(
      [this.#sound(keyId, 0), this.#streams(keyId, 0)].map((change) => this.#counts.change(change)),
    );
    const answers = counts.filter((count) => count !== null);
    if (answers.length < counts.length) return await this.#alone.waitMs(keyId);
    return answers.map(waitOf).find((wait) => wait !== null) ?? null;
  }

  #streams(keyId: string, amount: number): CountChange {
    return this.#change("streams", this.#limits.streamsPerMinute, keyId, amount);
  }

  /** In milliseconds. */
  #sound(keyId: string, amount: number): CountChange {
    return this.#change("sound", this.#limits.soundSecondsPerMinute * SECOND_MS, keyId, amount);
  }

  #change(of: string, limit: number, keyId: string, amount: number): CountChange {
    const { waitMs } = this.#limits;
    const name = `${of} ${limit} ${keyId}`;
    return { name, kind: "take", amount, limit, periodMs: MINUTE_MS, refusalMs: waitMs, leftMsMax: MINUTE_MS };
  }
}

function waitOf({ taken, leftMs }: Count): number | null {
  return taken ? null : leftMs;
}
