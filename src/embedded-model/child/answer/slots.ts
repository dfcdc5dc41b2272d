import { TurnQueue } from "@antiphon/speech/recognition/whisper/turn-queue.ts";
import type { EngineSequence } from "../engine-api.ts";
import { RequestRefused } from "../request-refused.ts";

/** A place of the model's memory, which keeps what it read last. */
export interface Slot {
  readonly sequence: EngineSequence;
}

interface WaitingTurn {
  readonly tokens: readonly number[];
  readonly resolve: (slot: Slot) => void;
  readonly reject: (reason: unknown) => void;
}

interface Place extends Slot {
  isBusy: boolean;
  /** In `performance.now()` time. */
  idleSinceMs: number;
}

/** A shorter common beginning is not worth the loss of what another conversation left in the slot. */
const COMMON_TOKENS_MIN = 32;
const RETRY_AFTER_SECONDS = 5;

/** Gives out slots: the one that has read most of a prompt already. Callers take turns in the line of waiting ones. */
export class Slots {
  readonly #places: readonly Place[];
  readonly #queue: TurnQueue<WaitingTurn>;

  constructor(sequences: readonly EngineSequence[], queueMax: number) {
    this.#places = sequences.map((sequence) => ({ sequence, isBusy: false, idleSinceMs: 0 }));
    this.#queue = new TurnQueue(queueMax);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Rejects with `RequestRefused` if too many wait, and with the signal's reason if it aborts while it waits. */
  async take(tokens: readonly number[], caller: string | null, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.#choose(tokens);
    if (free !== null) return free;
    if (this.#queue.isFull)
      throw new RequestRefused("Too many requests wait for the embedded model.", {
        status: 429,
        code: "rate_limit_exceeded",
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const turn: WaitingTurn = { tokens, resolve, reject };
    this.#queue.add(turn, caller, "awaited");
    const leave = (): void => {
      if (this.#queue.remove(turn)) reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  giveBack(slot: Slot): void {
    const place = this.#places.find(({ sequence }) => sequence === slot.sequence);
    if (place === undefined) return;
    place.isBusy = false;
    place.idleSinceMs = performance.now();
    const next = this.#queue.take();
    if (next === undefined) return;
    const free = this.#choose(next.tokens);
    if (free !== null) next.resolve(free);
  }

  #choose(tokens: readonly number[]): Slot | null {
    const free = this.#places.filter(({ isBusy }) => !isBusy);
    const [oldest] = free.toSorted((one, other) => one.idleSinceMs - other.idleSinceMs);
    if (oldest === undefined) return null;
    const candidates = free.map((place) => ({ place, common: commonLength(place.sequence.contextTokens, tokens) }));
    const [best] = candidates.toSorted((one, other) => other.common - one.common);
    const place = best !== undefined && best.common >= COMMON_TOKENS_MIN ? best.place : oldest;
    place.isBusy = true;
    return place;
  }
}

/** How many tokens both begin with. */
export function commonLength(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}
