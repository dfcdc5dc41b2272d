import { answerWithin } from "./answer-within.ts";
import type { CommonCounts, Count, CountChange, CountsObserver } from "./ports.ts";

/** How long a request waits for the counters, in milliseconds. */
const WAIT_MS_MAX = 300;
/** After a failure, at most one change per this time tests whether the counters respond again. */
const RETRY_MS = 1000;
const BATCH_MAX = 500;
/** All but one of these have been pending for longer than a request waits. */
const BATCHES_UNDER_WAY_MAX = 2;
/** Further changes count as unanswered. */
const WAITING_MAX = 10_000;

interface Waiting {
  readonly change: CountChange;
  readonly settle: (count: Count | null) => void;
}

/**
 * Sends all changes of one turn of the event loop together, and later ones in the next batch. Batches follow each
 * other, so a request sees everything that this server changed before it.
 */
export class CountBatches {
  readonly #counts: CommonCounts;
  readonly #observer: CountsObserver;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isAwaited = false;
  #isPlanned = false;
  #isAway = false;
  #triedAt = 0;

  constructor(counts: CommonCounts, observer: CountsObserver) {
    this.#counts = counts;
    this.#observer = observer;
  }

  /** Resolves to null if the counters do not respond in time. Never rejects. */
  async change(change: CountChange): Promise<Count | null> {
    if (!this.#mayAsk()) return null;
    const { promise, resolve } = Promise.withResolvers<Count | null>();
    this.#add({ change, settle: resolve });
    return await answerWithin(WAIT_MS_MAX, promise).catch((error: unknown) => {
      this.#noteAway(error);
      return null;
    });
  }

  /** Changes a counter in the background. The change is lost if the counters do not respond. */
  send(change: CountChange): void {
    if (!this.#isAway) this.#add({ change, settle: () => {} });
  }

  async close(): Promise<void> {
    await this.#counts.close();
  }

  /** While the counters are down, only one caller at a time waits for them. */
  #mayAsk(): boolean {
    if (!this.#isAway) return true;
    if (performance.now() - this.#triedAt < RETRY_MS) return false;
    this.#triedAt = performance.now();
    return true;
  }

  #add(waiting: Waiting): void {
    if (this.#waiting.length >= WAITING_MAX) return waiting.settle(null);
    this.#waiting.push(waiting);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#sendNext();
    });
  }

  #sendNext(): void {
    if (this.#waiting.length === 0 || this.#isAwaited || this.#underWay >= BATCHES_UNDER_WAY_MAX) return;
    void this.#sendBatch(this.#waiting.splice(0, BATCH_MAX));
  }

  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    this.#underWay += 1;
    this.#isAwaited = true;
    const timer = setTimeout(() => this.#goOn(), WAIT_MS_MAX);
    timer.unref();
    try {
      const counts = await this.#counts.change(batch.map(({ change }) => change));
      this.#noteBack();
      for (const [index, { settle }] of batch.entries()) settle(counts[index] ?? null);
    } catch (error) {
      this.#noteAway(error);
      for (const { settle } of batch) settle(null);
    } finally {
      clearTimeout(timer);
      this.#underWay -= 1;
      this.#goOn();
    }
  }

  #goOn(): void {
    this.#isAwaited = false;
    this.#sendNext();
  }

  #noteAway(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#triedAt = performance.now();
    this.#observer.away(error);
  }

  #noteBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#observer.back();
  }
}
