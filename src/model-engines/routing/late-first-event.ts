import { ModelError } from "@antiphon/domain/models/model-error.ts";

/** Ends an attempt whose first event is late, or whose turn is aborted. */
export class LateFirstEvent {
  readonly signal: AbortSignal;
  readonly #outer: AbortSignal;
  /** Null if nobody else could answer: then nothing is late. */
  readonly #leaving: AbortController | null = null;
  readonly #timer: NodeJS.Timeout | undefined;
  error: ModelError | null = null;

  /** `ms` is null if nobody else could answer. */
  constructor(ms: number | null, outer: AbortSignal) {
    this.signal = outer;
    this.#outer = outer;
    if (ms === null) return;
    this.#leaving = new AbortController();
    this.signal = this.#leaving.signal;
    this.#timer = setTimeout(this.#end, ms);
    // One listener costs a fraction of what `AbortSignal.any` does.
    outer.addEventListener("abort", this.#follow, { once: true });
    if (outer.aborted) this.#follow();
  }

  throwIfLate(): void {
    if (this.error !== null) throw this.error;
  }

  /** The first event came, or the attempt failed. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  /** Call when the turn is over. */
  stopFollowing(): void {
    if (this.#leaving !== null) this.#outer.removeEventListener("abort", this.#follow);
  }

  readonly #follow = (): void => this.#leaving?.abort(this.#outer.reason);

  readonly #end = (): void => {
    this.error = new ModelError("The model server did not begin its answer in time.", {
      status: 504,
      type: "server_error",
      code: "server_error",
      retry: "often",
    });
    this.#leaving?.abort(this.error);
  };
}
