import { packDeltas, unpackDeltas, type WaitingEvent } from "../ports/packed-deltas.ts";
import type { RecordedEvent } from "../recorded-event.ts";

/**
 * The maximum of buffered unread characters for a reader; the latest events may exceed it. Beyond it, the reader must
 * read the log, or the run waits for it.
 */
export const READER_LAG_CHARACTERS_MAX = 256 * 1024;
/** The maximum of events that a reader takes at once. */
const TAKEN_EVENTS = 256;

/** One reader's stream of the events of a running response. */
export interface Subscription {
  /** The number of the last event published before the subscription; −1 if none was. */
  readonly shownBefore: number;
  /**
   * The next events since the last call; waits if there are none. `null` once the feed has ended and every event was
   * taken.
   */
  next(): Promise<readonly RecordedEvent[] | null>;
  /** True if events were dropped since the last call because the reader was slow. The log has them. */
  takeLagged(): boolean;
  close(): void;
}

/** Publishes the events of one running response to any number of readers, each at its own pace. */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>();
  /** True if slow readers can catch up from the log. If false, the run waits for them. */
  readonly #isLogged: boolean;
  #lastNumber = -1;
  #hasEnded = false;

  constructor(isLogged: boolean) {
    this.#isLogged = isLogged;
  }

  /** The number of the last event that was published or announced; −1 if there is none. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  /** `seen`: the last event that the reader has read from the log. Events published since are announced to it. */
  subscribe(position = Number.POSITIVE_INFINITY): Subscription {
    const reader = new FeedReader(this.#isLogged, this.#lastNumber, () => this.#readers.delete(reader));
    if (position < this.#lastNumber) reader.lag();
    if (this.#hasEnded) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  /** Readers find earlier missing events in the log. */
  publish(events: readonly WaitingEvent[]): void {
    const first = events[0];
    const last = events.at(-1);
    if (first === undefined || last === undefined) return;
    const isGapBefore = this.#lastNumber !== -1 && first.number > this.#lastNumber + 1;
    this.#lastNumber = Math.max(this.#lastNumber, last.number + last.count - 1);
    for (const reader of this.#readers) {
      if (isGapBefore) reader.lag();
      reader.push(events);
    }
  }

  /** Announces events up to this number, which are in the log and not published here. */
  skipTo(number: number): void {
    this.#lastNumber = Math.max(this.#lastNumber, number);
    for (const reader of this.#readers) reader.lag();
  }

  /** Stops waiting for readers. Called when the run is stopped, because few events follow. */
  stopWaiting(): void {
    for (const reader of this.#readers) reader.stopWaiting();
  }

  /** Resolves when every reader has room; at once if readers can catch up from the log. */
  async waitForRoom(): Promise<void> {
    if (this.#isLogged) return;
    for (const reader of this.#readers) await reader.waitForRoom();
  }

  end(): void {
    this.#hasEnded = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }
}

class FeedReader implements Subscription {
  readonly shownBefore: number;
  readonly #mayLag: boolean;
  readonly #onClose: () => void;
  #pending: WaitingEvent[] = [];
  #pendingCharacters = 0;
  #isLagging = false;
  #hasEnded = false;
  #waitingStopped = false;
  #wakeReader: (() => void) | null = null;
  #wakeWriter: (() => void) | null = null;

  constructor(mayLag: boolean, shownBefore: number, onClose: () => void) {
    this.shownBefore = shownBefore;
    this.#mayLag = mayLag;
    this.#onClose = onClose;
  }

  push(events: readonly WaitingEvent[]): void {
    if (this.#mayLag && !this.#hasRoom()) {
      this.#drop();
      this.#isLagging = true;
    } else {
      // A waiting reader takes them at once.
      for (const event of this.#wakeReader === null ? packDeltas(events) : events) this.#add(event);
    }
    this.#wake();
  }

  lag(): void {
    this.#isLagging = true;
    this.#wake();
  }

  async next(): Promise<readonly RecordedEvent[] | null> {
    while (this.#pending.length === 0 && !this.#isLagging) {
      if (this.#hasEnded) return null;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const batch = this.#take();
    this.#wakeWriter?.();
    return batch;
  }

  takeLagged(): boolean {
    const isLagging = this.#isLagging;
    this.#isLagging = false;
    return isLagging;
  }

  async waitForRoom(): Promise<void> {
    while (!this.#hasRoom() && !this.#hasEnded && !this.#waitingStopped) {
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
    this.#drop();
    this.#onClose();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
    this.#wakeWriter?.();
  }

  /** Takes some events and leaves the rest packed. */
  #take(): readonly RecordedEvent[] {
    let events = 0;
    let end = 0;
    for (; events < TAKEN_EVENTS && end < this.#pending.length; end += 1) events += this.#pending[end]?.count ?? 0;
    const entries = this.#pending.splice(0, end);
    for (const { size } of entries) this.#pendingCharacters -= size;
    return unpackDeltas(entries);
  }

  #drop(): void {
    this.#pending = [];
    this.#pendingCharacters = 0;
  }

  #add(event: WaitingEvent): void {
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
