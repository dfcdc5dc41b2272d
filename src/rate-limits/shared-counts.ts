import type { RateBucket } from "@antiphon/domain/rates.ts";
import { CurrentMinutes } from "./current-minutes.ts";
import { counterName, type MinuteCounter, MinuteCounters, type Used } from "./minute-counter.ts";

/** One limit of one key. */
export interface RatePlace {
  readonly bucket: RateBucket;
  readonly limit: number;
  readonly keyId: string;
}

/** A process takes `amount` and returns the rest of its block. 0 only reads the counter. */
export interface RateAsk extends RatePlace {
  readonly amount: number;
  readonly unused: number;
}

/** The reply. `used` includes the usage and the blocks of all processes. */
export interface RateGrant {
  readonly taken: boolean;
  readonly used: Used;
  /** How much more the process may use in this minute without a request. */
  readonly block: number;
}

/** Above 0 it charges; below 0 it refunds if the minute ending at `endsAt` is not over. */
export interface RateCorrection extends RatePlace {
  readonly amount: number;
  readonly endsAt: number;
}

/** Recalls the rest of a process's block. Resolves to 0 if it has none or does not respond. */
export type RecallBlock = (process: number, place: RatePlace) => Promise<number>;

/** The size of a block, as a number of further takes. */
const BLOCK_TAKINGS = 15;
/** Blocks are granted only while each process could have this many. */
const BLOCKS_IN_RESERVE = 2;

interface Holders {
  readonly endsAt: number;
  readonly processes: Set<number>;
  /** Set while the blocks are being recalled. */
  recall: Promise<void> | null;
}

/**
 * Counts for several processes. While plenty of a limit is left, a process gets a block in advance and sends few
 * requests. If a take does not fit, the blocks of the others are recalled first, so that the limit is exact.
 */
export class SharedCounts {
  readonly #counters = new MinuteCounters();
  readonly #holders = new CurrentMinutes<Holders>();
  readonly #processes: number;
  readonly #recallBlock: RecallBlock;

  constructor(processes: number, recallBlock: RecallBlock) {
    this.#processes = processes;
    this.#recallBlock = recallBlock;
  }

  async take(process: number, ask: RateAsk): Promise<RateGrant> {
    const counter = this.#counters.of(ask.bucket, ask.limit);
    const { keyId, amount, unused } = ask;
    if (unused > 0) await takeBack(counter, keyId, unused);
    if (amount === 0) return { taken: true, used: await counter.usage(keyId), block: 0 };
    const first = await counter.take(keyId, amount);
    if (first.taken) return await this.#withBlock(process, ask, first.used);
    const isRecalled = amount <= ask.limit && (await this.#recall(ask, counter));
    return isRecalled ? { ...(await counter.take(keyId, amount)), block: 0 } : { ...first, block: 0 };
  }

  correct({ bucket, limit, keyId, amount, endsAt }: RateCorrection): void {
    const counter = this.#counters.of(bucket, limit);
    if (amount > 0) void counter.charge(keyId, amount);
    else if (amount < 0 && Date.now() < endsAt) void counter.giveBack(keyId, -amount);
  }

  async #withBlock(process: number, ask: RateAsk, usage: Used): Promise<RateGrant> {
    const block = ask.amount * BLOCK_TAKINGS;
    const room = ask.limit - usage.amount;
    if (room < block * BLOCKS_IN_RESERVE * this.#processes) return { taken: true, used: usage, block: 0 };
    const after = await this.#counters.of(ask.bucket, ask.limit).charge(ask.keyId, block);
    const holders = this.#holders.get(placeName(ask));
    if (holders !== undefined && holders.recall === null) holders.processes.add(process);
    else this.#holders.set(placeName(ask), { endsAt: after.endsAt, processes: new Set([process]), recall: null });
    return { taken: true, used: after, block };
  }

  /** Returns false if no process had a block. */
  async #recall(place: RatePlace, counter: MinuteCounter): Promise<boolean> {
    const holders = this.#holders.get(placeName(place));
    if (holders === undefined) return false;
    holders.recall ??= this.#collect(place, holders, counter);
    await holders.recall;
    return true;
  }

  async #collect(place: RatePlace, holders: Holders, counter: MinuteCounter): Promise<void> {
    const rests = await Promise.all([...holders.processes].map((process) => this.#recallBlock(process, place)));
    const rest = rests.reduce((sum, each) => sum + each, 0);
    if (rest > 0) await takeBack(counter, place.keyId, rest);
    if (this.#holders.get(placeName(place)) === holders) this.#holders.delete(placeName(place));
  }
}

/** The minute may have ended before the process replied. Its rest must not enlarge the next one. */
async function takeBack(counter: MinuteCounter, keyId: string, rest: number): Promise<void> {
  if ((await counter.usage(keyId)).amount >= rest) await counter.giveBack(keyId, rest);
}

/** The name of a limit of a key. */
export function placeName({ bucket, limit, keyId }: RatePlace): string {
  return `${counterName(bucket, limit)} ${keyId}`;
}
