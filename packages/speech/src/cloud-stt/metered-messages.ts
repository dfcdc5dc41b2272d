import { isRecord } from "@antiphon/base/json/records.ts";
import { BYTES_PER_SAMPLE } from "../audio/pcm.ts";
import { rateLimited } from "./errors.ts";

/** Sample rate of a stream whose messages set none. */
const DEFAULT_RATE_HZ = 16_000;
/** Lower rates are invalid, and would turn few bytes into hours of sound, so they are not used for counting. */
const RATE_HZ_MIN = 8000;

/** Counts sound. Resolves to the milliseconds to wait if it exceeds the limit, otherwise to null. */
type TakeSound = (ms: number) => Promise<number | null>;

/** Relays messages and counts their sound. `next` rejects with an `ApiError` if the sound exceeds the limit. */
export class MeteredMessages implements AsyncIterableIterator<unknown, unknown> {
  readonly #messages: AsyncIterator<unknown, unknown>;
  readonly #take: TakeSound;
  #rateHz = DEFAULT_RATE_HZ;

  constructor(messages: AsyncIterable<unknown>, take: TakeSound) {
    this.#messages = messages[Symbol.asyncIterator]();
    this.#take = take;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown, unknown>> {
    const next = await this.#messages.next();
    if (next.done === true) return next;
    const ms = this.#soundMs(next.value);
    const waitMs = ms === 0 ? null : await this.#take(ms);
    if (waitMs !== null) throw rateLimited(waitMs);
    return next;
  }

  async return(): Promise<IteratorResult<unknown, unknown>> {
    return (await this.#messages.return?.()) ?? { done: true, value: undefined };
  }

  /** Length of the sound in a message that is not validated yet. */
  #soundMs(message: unknown): number {
    if (!isRecord(message) || typeof message["audio_base64"] !== "string") return 0;
    const { sample_rate: rateHz, audio_base64: base64 } = message;
    if (typeof rateHz === "number" && rateHz >= RATE_HZ_MIN) this.#rateHz = rateHz;
    const samples = (base64.length * 3) / 4 / BYTES_PER_SAMPLE;
    return Math.floor((samples * 1000) / this.#rateHz);
  }
}
