import { LiveFeed, type Subscription } from "../../runs/index.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";

/** A run of another process with subscribers here. */
export class FollowedRun {
  readonly id: string;
  readonly #feed = new LiveFeed(true);
  #readers = 0;
  #waiters = 0;
  readonly #onUnwatched: () => void;
  /**
   * When a subscription was last requested from its worker without a reply since, in milliseconds; null if it is
   * active.
   */
  askedAt: number | null = null;

  constructor(id: string, position: number, onUnwatched: () => void) {
    this.id = id;
    this.#feed.skipTo(position);
    this.#onUnwatched = onUnwatched;
  }

  /** What to request from its worker: the events above this number, or null for its end only. */
  get after(): number | null {
    return this.#readers > 0 ? this.#feed.lastNumber : null;
  }

  /** Subscribes a reader that has read the log up to `after`. */
  read(after: number): Subscription {
    this.#readers += 1;
    const live = this.#feed.subscribe(after);
    return closedOnce(live, () => {
      this.#readers -= 1;
      this.#handleLeave();
    });
  }

  /** Resolves when the run has ended or another worker makes it. */
  async waitForEnd(signal: AbortSignal): Promise<void> {
    this.#waiters += 1;
    const live = this.#feed.subscribe();
    const leave = (): void => live.close();
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    while ((await live.next()) !== null) live.takeLagged();
    signal.removeEventListener("abort", leave);
    live.close();
    this.#waiters -= 1;
    this.#handleLeave();
  }

  /** Publishes consecutive events. Readers find events in a gap before them in the log. */
  show(events: readonly RecordedEvent[]): void {
    const { lastNumber } = this.#feed;
    const fresh = (events[0]?.number ?? 0) > lastNumber ? events : events.filter(({ number }) => number > lastNumber);
    if (fresh.length > 0) this.#feed.publish(fresh);
  }

  /** The log has events up to this number; −1 if it has more, up to an unknown number. */
  showLogged(last: number): void {
    if (last === -1 || last > this.#feed.lastNumber) this.#feed.skipTo(last);
  }

  end(): void {
    this.#feed.end();
  }

  #handleLeave(): void {
    if (this.#readers + this.#waiters === 0) this.#onUnwatched();
  }
}

/** A subscription that calls `onClose` once when it is closed. */
function closedOnce(live: Subscription, onClose: () => void): Subscription {
  let isClosed = false;
  return {
    shownBefore: live.shownBefore,
    next: () => live.next(),
    takeLagged: () => live.takeLagged(),
    close: () => {
      live.close();
      if (isClosed) return;
      isClosed = true;
      onClose();
    },
  };
}
