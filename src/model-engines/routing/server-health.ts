import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";

/** Failures in a row that open the breaker. */
const FAILURES_TO_OPEN = 3;
/** The breaker stays open this long at first, in milliseconds, and twice as long after each failed trial. */
const OPEN_MS = 5_000;
const OPEN_MS_MAX = 60_000;
/** The longest pause that a server may ask for. */
const PAUSE_MS_MAX = 10 * 60_000;

export type BreakerState = "closed" | "open" | "half_open";

export interface ServerLimits {
  /** The most requests under way. */
  readonly requestsMax: number;
  /** The most requests that wait. */
  readonly queueMax: number;
}

interface Waiting {
  readonly payer: string;
  readonly admit: () => void;
}

/**
 * What is known of a model server from its answers: its load, whether it asked for a pause, and whether it fails. The
 * breaker opens after failures in a row. After its time, one request tries the server; its outcome closes the breaker
 * or opens it again. The payers of waiting requests take turns.
 */
export class ServerHealth {
  readonly #limits: ServerLimits;
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];
  #underWay = 0;
  #failures = 0;
  /** 0 while the breaker is closed. */
  #openMs = 0;
  #openUntil = 0;
  #isTrying = false;
  #pausedUntil = 0;
  #lastPayer = "";

  constructor(limits: ServerLimits, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get queueLength(): number {
    return this.#waiting.length;
  }

  get state(): BreakerState {
    if (this.#openMs === 0) return "closed";
    return this.#openUntil > this.#now() || this.#isTrying ? "open" : "half_open";
  }

  /** Milliseconds for which the server asked not to be asked; 0 for none. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - this.#now());
  }

  get isFull(): boolean {
    return this.#underWay >= this.#limits.requestsMax;
  }

  get hasRoomToWait(): boolean {
    return this.#waiting.length < this.#limits.queueMax;
  }

  /** Resolves once the request has a place, which `leave` gives back. Rejects when `signal` aborts. */
  async enter(payer: string, signal: AbortSignal): Promise<void> {
    if (this.isFull) await this.#wait(payer, signal);
    else this.#underWay += 1;
    if (this.state === "half_open") this.#isTrying = true;
  }

  leave(): void {
    const next = this.#nextWaiting();
    if (next === null) this.#underWay -= 1;
    else next.admit();
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openMs = 0;
    this.#openUntil = 0;
    this.#isTrying = false;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#openMs === 0 && this.#failures < FAILURES_TO_OPEN) return;
    if (this.state === "open" && !this.#isTrying) return; // It was asked before the breaker opened.
    this.#openMs = Math.min(OPEN_MS_MAX, this.#openMs === 0 ? OPEN_MS : 2 * this.#openMs);
    this.#openUntil = this.#now() + this.#openMs;
    this.#isTrying = false;
  }

  /** The request ended without telling whether the server works. */
  undecided(): void {
    this.#isTrying = false;
  }

  /** The server asked for a pause. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now() + Math.min(ms, PAUSE_MS_MAX));
  }

  /** A place is handed over: whoever leaves admits the next one. */
  async #wait(payer: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isAdmitted = false;
    const waiting = {
      payer,
      admit: () => {
        isAdmitted = true;
        resolve();
      },
    };
    this.#waiting.push(waiting);
    try {
      await unlessAborted(promise, signal);
    } catch (error) {
      const place = this.#waiting.indexOf(waiting);
      if (place !== -1) this.#waiting.splice(place, 1);
      if (isAdmitted) this.leave();
      throw error;
    }
  }

  /** The first of another payer than the last one, if there is one. */
  #nextWaiting(): Waiting | null {
    const other = this.#waiting.findIndex(({ payer }) => payer !== this.#lastPayer);
    const [next] = this.#waiting.splice(Math.max(other, 0), 1);
    if (next === undefined) return null;
    this.#lastPayer = next.payer;
    return next;
  }
}
