import { APIUserAbortError, timeoutError } from "./errors.ts";

/** The longest delay of a timer; longer ones fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface CallLimits {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Ends one attempt of a call when the caller's signal aborts, when the server is silent for too long, or when the
 * caller stops reading.
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

  /** Aborts when the call must end. Its reason is the error to reject with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the timeout: the server must send something within `timeoutMs`. */
  expectServer(): void {
    clearTimeout(this.#timer);
    const { timeoutMs } = this.#limits;
    const expire = () => this.end(timeoutError(timeoutMs));
    this.#timer = setTimeout(expire, Math.min(timeoutMs, TIMER_MS_MAX));
  }

  /** Stops the timeout while the call does not wait for the server. */
  stopExpecting(): void {
    clearTimeout(this.#timer);
  }

  end(reason: unknown): void {
    this.#controller.abort(reason);
    this.release();
  }

  /** Removes the timer and listeners once the call is over. */
  release(): void {
    clearTimeout(this.#timer);
    this.#limits.signal?.removeEventListener("abort", this.#onAbort);
    for (const callback of this.#whenOver.splice(0)) callback();
  }

  /** Calls back once the call is over, whether it succeeded or failed. */
  whenOver(callback: () => void): void {
    this.#whenOver.push(callback);
  }

  readonly #onAbort = () => this.end(abortError(this.#limits.signal?.reason));
}

export function abortError(cause: unknown): APIUserAbortError {
  return new APIUserAbortError("The call was aborted.", cause === undefined ? undefined : { cause });
}
