import { assert } from "@antiphon/base/assert.ts";

/** How many stores one process can have open at the same time. */
const STORES_MAX = 1_024;

/** The worker number of each open store of this process, or 0, at the store's place. */
const NUMBERS = new Int32Array(new SharedArrayBuffer(STORES_MAX * Int32Array.BYTES_PER_ELEMENT));
/** When the lease of that worker was last renewed, on the clock of `monotonicNow`. */
const RENEWALS = new BigInt64Array(new SharedArrayBuffer(STORES_MAX * BigInt64Array.BYTES_PER_ELEMENT));
const places = new Set<number>();

/**
 * Distinguishes the living workers of this process from dead ones, because they share a process number. All threads of
 * the process share its memory.
 */
export interface OwnWorkers {
  readonly numbers: Int32Array;
  readonly renewals: BigInt64Array;
  /** The index of this store's number. */
  readonly place: number;
}

/** Return it with `freePlace` once the store's worker has ended. */
export function takePlace(): OwnWorkers {
  let place = 0;
  while (places.has(place)) place += 1;
  assert(place < STORES_MAX, "a process has few stores open at the same time");
  places.add(place);
  return { numbers: NUMBERS, renewals: RENEWALS, place };
}

export function freePlace(own: OwnWorkers): void {
  setNumber(own, 0);
  places.delete(own.place);
}

/** Records the number of this store's worker; 0 if it has none any more. */
export function setNumber({ numbers, place }: OwnWorkers, number: number): void {
  Atomics.store(numbers, place, number);
}

/** The number of this store's worker; 0 if it has none. */
export function ownNumber({ numbers, place }: OwnWorkers): number {
  return Atomics.load(numbers, place);
}

/** Nanoseconds of a clock that all threads of this process share and that nobody can set. */
export function monotonicNow(): bigint {
  return process.hrtime.bigint();
}

/** Records a renewal of the lease of this store's worker. `at`: before the renewal began. */
export function noteRenewal({ renewals, place }: OwnWorkers, at: bigint): void {
  Atomics.store(renewals, place, at);
}

/** When the lease of this store's worker was last renewed, on the clock of `monotonicNow`. */
export function renewedAt({ renewals, place }: OwnWorkers): bigint {
  return Atomics.load(renewals, place);
}

/** Whether a living worker of this process has this number. */
export function isOwnNumber({ numbers }: OwnWorkers, number: number): boolean {
  return numbers.includes(number);
}
