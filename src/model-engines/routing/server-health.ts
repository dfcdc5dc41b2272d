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

/** Gives a waiting request its place. */
type Admission = () => void;

/**
 * What is known of a model server from its answers: its load, whether it asked for a pause, and whether it fails. The
 * breaker opens after failures in a row. After its time, one request tries the server; its outcome closes the breaker
 * or opens it again. The payers of waiting requests take turns.
 */
export class ServerHealth {
  readonly #limits: ServerLimits;
  readonly #now: () => number;
  /** By payer, in the order of their turns. */
  readonly #waiting = new Map<string, readonly Admission[]>();
  #queueLength = 0;
  #underWay = 0;
  #failures = 0;
  /** 0 while the breaker is closed. */
  #openMs = 0;
  #openUntil = 0;
  #isTrying = false;
  #pausedUntil = 0;

  constructor(limits: ServerLimits, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get queueLength(): number {
    return this.#queueLength;
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
    return this.#queueLength < this.#limits.queueMax;
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
    else next();
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
    const admit: Admission = () => {
      isAdmitted = true;
      resolve();
    };
    this.#waiting.set(payer, [...(this.#waiting.get(payer) ?? []), admit]);
    this.#queueLength += 1;
    try {
      await unlessAborted(promise, signal);
    } catch (error) {
      if (isAdmitted) this.leave();
      else this.#withdraw(payer, admit);
      throw error;
    }
  }

  #withdraw(payer: string, admission: Admission): void {
    const others = (this.#waiting.get(payer) ?? []).filter((other) => other !== admission);
    if (others.length === 0) this.#waiting.delete(payer);
    else this.#waiting.set(payer, others);
    this.#queueLength -= 1;
  }

  /** The first one of the payer whose turn it is. A payer with more goes to the end of the row. */
  #nextWaiting(): Admission | null {
    for (const [payer, [first, ...others]] of this.#waiting) {
      this.#waiting.delete(payer);
      if (others.length > 0) this.#waiting.set(payer, others);
      if (first === undefined) continue;
      this.#queueLength -= 1;
      return first;
    }
    return null;
  }
}
