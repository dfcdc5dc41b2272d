import type { RecordedEvent } from "../ports.ts";

/**
 * How many characters of unread events are kept for a reader; the latest events may exceed it. Beyond it the reader
 * must read the log, or the run waits for it.
 */
export const READER_LAG_CHARACTERS_MAX = 256 * 1024;

/** One reader's stream of the events of a running response. */
export interface Subscription {
  /**
   * The events since the last call; waits if there are none. `null` once the feed has ended and every event was taken.
   */
  next(): Promise<readonly RecordedEvent[] | null>;
  /** True if events were dropped since the last call because the reader was slow. They are in the log. */
  takeLagged(): boolean;
  close(): void;
}

/** Passes the events of one running response to any number of readers, each at its own pace. */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>();
  /** True if slow readers can catch up from the log. If false, the run waits for them. */
  readonly #logged: boolean;
  #ended = false;

  constructor(logged: boolean) {
    this.#logged = logged;
  }

  subscribe(): Subscription {
    const reader = new FeedReader(this.#logged, () => this.#readers.delete(reader));
    if (this.#ended) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  publish(events: readonly RecordedEvent[]): void {
    for (const reader of this.#readers) reader.push(events);
  }

  /** From now on the run waits for no reader. Called when the run is stopped, because few events follow. */
  stopWaiting(): void {
    for (const reader of this.#readers) reader.stopWaiting();
  }

  /** Resolves when every reader has room again; at once if readers can catch up from the log. */
  async waitForRoom(): Promise<void> {
    if (this.#logged) return;
    for (const reader of this.#readers) await reader.waitForRoom();
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }
}

class FeedReader implements Subscription {
  readonly #mayLag: boolean;
  readonly #onClose: () => void;
  #pending: RecordedEvent[] = [];
  #pendingCharacters = 0;
  #lagged = false;
  #ended = false;
  #waitingStopped = false;
  #wakeReader: (() => void) | null = null;
  #wakeWriter: (() => void) | null = null;

  constructor(mayLag: boolean, onClose: () => void) {
    this.#mayLag = mayLag;
    this.#onClose = onClose;
  }

  push(events: readonly RecordedEvent[]): void {
    if (this.#mayLag && !this.#hasRoom()) {
      this.#take();
      this.#lagged = true;
    } else {
      for (const event of events) this.#add(event);
    }
    this.#wake();
  }

  async next(): Promise<readonly RecordedEvent[] | null> {
    while (this.#pending.length === 0 && !this.#lagged) {
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const taken = this.#take();
    this.#wakeWriter?.();
    return taken;
  }

  takeLagged(): boolean {
    const lagged = this.#lagged;
    this.#lagged = false;
    return lagged;
  }

  async waitForRoom(): Promise<void> {
    while (!this.#hasRoom() && !this.#ended && !this.#waitingStopped) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
  }

  stopWaiting(): void {
    this.#waitingStopped = true;
    this.#wakeWriter?.();
  }

  close(): void {
    this.end();
    this.#take();
    this.#onClose();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
    this.#wakeWriter?.();
  }

  #take(): readonly RecordedEvent[] {
    const taken = this.#pending;
    this.#pending = [];
    this.#pendingCharacters = 0;
    return taken;
  }

  #add(event: RecordedEvent): void {
    this.#pending.push(event);
    this.#pendingCharacters += event.size;
  }

  #hasRoom(): boolean {
    return this.#pendingCharacters <= READER_LAG_CHARACTERS_MAX;
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = null;
  }
}
