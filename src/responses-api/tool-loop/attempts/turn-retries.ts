import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { TurnAttempts } from "../../../runs/ports/store-faults.ts";
import type { RetryBudget } from "./model-retries.ts";

/** The first pause is at most this long, each later one twice as long. The model server may request more. */
const FIRST_PAUSE_MS_MAX = 500;
const PAUSE_MS_MAX = 60_000;
/** A model server that breaks the protocol is likely to do so again. */
const PROTOCOL_FAILURES_MAX = 1;

/** Counts the failures of the current turn. */
export class TurnRetries {
  readonly #now: () => number;
  readonly #random: () => number;
  #attempts: TurnAttempts | null;

  constructor(before: TurnAttempts | null, now = Date.now, random = Math.random) {
    this.#attempts = before;
    this.#now = now;
    this.#random = random;
  }

  /** The part stored with a waiting run. */
  get attempts(): TurnAttempts {
    return this.#attempts ?? { turn: 0, failures: 0, since: this.#now() };
  }

  /** The pause in milliseconds before the turn is retried; null if it is not. */
  next(error: unknown, turn: number, budget: RetryBudget): number | null {
    if (!(error instanceof ModelError) || error.retry === "never") return null;
    const now = this.#now();
    const before = this.#attempts?.turn === turn ? this.#attempts : { turn, failures: 0, since: now };
    const failures = before.failures + 1;
    this.#attempts = { ...before, failures };
    const failuresMax =
      error.retry === "once" ? Math.min(PROTOCOL_FAILURES_MAX, budget.failuresMax) : budget.failuresMax;
    if (failures > failuresMax) return null;
    const leftMs = before.since + budget.withinMs - now;
    const pauseMs = this.#pauseMs(error, failures);
    return pauseMs > leftMs ? null : pauseMs;
  }

  /** Between 0 and a maximum that doubles each time, so that many runs do not retry at once. */
  #pauseMs({ retryAfterSeconds }: ModelError, failures: number): number {
    const longest = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS_MAX * 2 ** (failures - 1));
    const pause = Math.round(this.#random() * longest);
    return retryAfterSeconds === null ? pause : retryAfterSeconds * 1000 + pause;
  }
}
