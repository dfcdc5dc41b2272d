/** The limits of responses per statement. */
const SLICE_MIN = 10;
const SLICE_MAX = 1_000;
/** The texts of responses may be long, so a search begins with few. */
const SLICE_OF_SEARCH = 100;
/** A slower slice is followed by a smaller one; a slice four times as fast, by a larger one. */
const SLICE_MS = 80;
/** The maximum responses examined per page, with and without text search, and the time limit. */
const SEARCHED_MAX = 20_000;
const FILTERED_MAX = 200_000;
const PAGE_MS_MAX = 2_000;

/** Divides a page's work into slices, so that each statement is short, and ends it in time. */
export class SlicePace {
  readonly #lookedAtMax: number;
  readonly #startedMs: number;
  readonly #now: () => number;
  #size: number;
  #lookedAt = 0;
  #sliceStartedMs: number;

  /** `isSearch`: whether texts are searched. `now`: a clock in milliseconds. */
  constructor(isSearch: boolean, now: () => number = () => performance.now()) {
    this.#lookedAtMax = isSearch ? SEARCHED_MAX : FILTERED_MAX;
    this.#size = isSearch ? SLICE_OF_SEARCH : SLICE_MAX;
    this.#now = now;
    this.#startedMs = now();
    this.#sliceStartedMs = this.#startedMs;
  }

  /** The number of responses in the next slice. */
  get size(): number {
    return this.#size;
  }

  /** Records an examined slice. Returns whether the page may have another. */
  next(): boolean {
    const nowMs = this.#now();
    const tookMs = nowMs - this.#sliceStartedMs;
    this.#lookedAt += this.#size;
    if (tookMs > SLICE_MS) this.#size = Math.max(SLICE_MIN, Math.floor(this.#size / 2));
    else if (tookMs < SLICE_MS / 4) this.#size = Math.min(SLICE_MAX, this.#size * 2);
    this.#sliceStartedMs = nowMs;
    return this.#lookedAt < this.#lookedAtMax && nowMs - this.#startedMs < PAGE_MS_MAX;
  }
}
