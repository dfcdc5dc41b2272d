import type { RecordedEvent } from "../ports.ts";

/** How many events a reader may lag behind before it is sent to the log instead. */
export const READER_LAG_EVENTS_MAX = 1024;
/** The same for their JSON text; the latest events may be as long as they are. */
export const READER_LAG_CHARACTERS_MAX = 256 * 1024;

/** One reader's place at a running response. */
export interface Subscription {
  /** What arrived since the last call; waits for more. `null` once the feed has ended and everything was taken. */
  next(): Promise<readonly RecordedEvent[] | null>;
  /** True once events were left out because the reader was slow; they are in the log. Reading it resets it. */
  takeLagged(): boolean;
  close(): void;
}

/** Shows the events of one running response to any number of readers, each at its own pace. */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>();
  /** Whether slow readers can catch up from the log. If not, the run waits for them. */
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

  /** From now on nothing waits for readers: the run is being stopped, and little more comes. */
  hurry(): void {
    for (const reader of this.#readers) reader.hurry();
  }

  /** Resolves when every reader that cannot use the log has room again. */
  async roomForMore(): Promise<void> {
    if (this.#logged) return;
    for (const reader of this.#readers) await reader.room();
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
  #hurried = false;
  #wakeReader: (() => void) | null = null;
  #wakeWriter: (() => void) | null = null;

  constructor(mayLag: boolean, onClose: () => void) {
    this.#mayLag = mayLag;
    this.#onClose = onClose;
  }

  push(events: readonly RecordedEvent[]): void {
    const isBehind =
      this.#pending.length + events.length > READER_LAG_EVENTS_MAX ||
      this.#pendingCharacters > READER_LAG_CHARACTERS_MAX;
    if (this.#mayLag && isBehind) {
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

  async room(): Promise<void> {
    while (!this.#hasRoom() && !this.#ended && !this.#hurried) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
  }

  hurry(): void {
    this.#hurried = true;
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
    this.#pendingCharacters += event.json.length;
  }

  #hasRoom(): boolean {
    return this.#pending.length < READER_LAG_EVENTS_MAX && this.#pendingCharacters <= READER_LAG_CHARACTERS_MAX;
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = null;
  }
}
