import { createHistogram, type EventLoopUtilization, performance, type RecordableHistogram } from "node:perf_hooks";

const NANOSECONDS_PER_MS = 1e6;
const NANOSECONDS_PER_SECOND = 1e9;
const PERCENT = 100;
/** The pause between two looks at a loop in use, in milliseconds. */
const BUSY_PAUSE_MS = 20;
/** The longest pause while the loop has nothing to do. */
const IDLE_PAUSE_MS = 1_000;
/** A loop that works less than this part of the time has nothing to do. */
const IDLE_USE = 0.02;

/**
 * Measures how late the event loop runs a timer that is due. Looks less and less often while the loop has nothing to
 * do, because 50 looks a second were most of what an idle server cost.
 */
export class LoopDelays {
  readonly #delays: RecordableHistogram = createHistogram();
  #pauseMs = BUSY_PAUSE_MS;
  #dueAt = 0;
  #use: EventLoopUtilization = performance.eventLoopUtilization();
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    this.#schedule();
  }

  /** The delays at these quantiles since the last call, in seconds; 0 if none was measured. */
  take(quantiles: readonly number[]): readonly number[] {
    const isEmpty = this.#delays.count === 0;
    const taken = quantiles.map((quantile) =>
      isEmpty ? 0 : this.#delays.percentile(quantile * PERCENT) / NANOSECONDS_PER_SECOND,
    );
    this.#delays.reset();
    return taken;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    this.#dueAt = performance.now() + this.#pauseMs;
    this.#timer = setTimeout(() => this.#look(), this.#pauseMs).unref();
  }

  #look(): void {
    const lateMs = performance.now() - this.#dueAt;
    this.#delays.record(Math.max(1, Math.round(lateMs * NANOSECONDS_PER_MS))); // 0 cannot be recorded.
    const use = performance.eventLoopUtilization();
    const isIdle = performance.eventLoopUtilization(use, this.#use).utilization < IDLE_USE;
    this.#use = use;
    this.#pauseMs = isIdle ? Math.min(IDLE_PAUSE_MS, this.#pauseMs * 2) : BUSY_PAUSE_MS;
    this.#schedule();
  }
}
