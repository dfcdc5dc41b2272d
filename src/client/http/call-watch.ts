import { APIUserAbortError, silentFor } from "./errors.ts";

/** Longer timers fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface CallLimits {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Ends one try of a call: when the caller's signal aborts, when the server is silent for too long, or when nobody
 * listens.
 */
export class CallWatch {
  readonly #controller = new AbortController();
  readonly #limits: CallLimits;
  readonly #whenOver: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limits: CallLimits) {
    this.#limits = limits;
    limits.signal?.addEventListener("abort", this.#onAbort);
    if (limits.signal?.aborted === true) this.#onAbort();
  }

  /** Aborts when the call has to end; the reason is the error to reject with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on the server has `timeoutMs` to be heard. */
  expectServer(): void {
    clearTimeout(this.#timer);
    const { timeoutMs } = this.#limits;
    const expire = () => this.end(silentFor(timeoutMs));
    this.#timer = setTimeout(expire, Math.min(timeoutMs, TIMER_MS_MAX));
  }

  /** Whoever is awaited now, it is not the server. */
  stopExpecting(): void {
    clearTimeout(this.#timer);
  }

  end(reason: unknown): void {
    this.#controller.abort(reason);
    this.release();
  }

  /** The call is over: it holds on to nothing. */
  release(): void {
    clearTimeout(this.#timer);
    this.#limits.signal?.removeEventListener("abort", this.#onAbort);
    for (const callback of this.#whenOver.splice(0)) callback();
  }

  /** Runs once the call is over, however it ended. */
  whenOver(callback: () => void): void {
    this.#whenOver.push(callback);
  }

  readonly #onAbort = () => this.end(abortedBy(this.#limits.signal?.reason));
}

export function abortedBy(cause: unknown): APIUserAbortError {
  return new APIUserAbortError("The call was aborted.", cause === undefined ? undefined : { cause });
}
