/** Waiting events at which the source is paused. */
const WAITING_EVENTS_MAX = 512;
/** Size of the waiting events, in characters, at which the source is paused. */
const WAITING_CHARACTERS_MAX = 1024 * 1024;

export interface Flow {
  pause(): void;
  resume(): void;
  /** Called when the reader stops before the end. */
  leave(): void;
}

type Waiter<T> = { resolve(result: IteratorResult<readonly T[], undefined>): void; reject(error: unknown): void };

/**
 * Connects a source that pushes with one reader that pulls. Events that arrive while the reader is busy become one
 * batch.
 */
export class EventQueue<T> implements AsyncIterableIterator<readonly T[], undefined> {
  readonly #flow: Flow;
  readonly #sizeOf: (event: T) => number;
  #events: T[] = [];
  #waitingCharacters = 0;
  #waiter: Waiter<T> | null = null;
  #end: { readonly error: unknown } | "clean" | null = null;
  #isPaused = false;

  constructor(flow: Flow, sizeOf: (event: T) => number) {
    this.#flow = flow;
    this.#sizeOf = sizeOf;
  }

  /** The queue takes ownership of the array. Events after the end are dropped. */
  push(events: T[]): void {
    if (events.length === 0 || this.#end !== null) return;
    if (this.#waiter !== null) {
      const waiter = this.#waiter;
      this.#waiter = null;
      waiter.resolve({ value: events, done: false });
      return;
    }
    for (const event of events) this.#waitingCharacters += this.#sizeOf(event);
    if (this.#events.length === 0) this.#events = events;
    else for (const event of events) this.#events.push(event);
    const isRoomLeft = this.#events.length < WAITING_EVENTS_MAX && this.#waitingCharacters < WAITING_CHARACTERS_MAX;
    if (isRoomLeft || this.#isPaused) return;
    this.#isPaused = true;
    this.#flow.pause();
  }

  end(): void {
    this.#finish("clean");
  }

  /** The reader gets the events pushed before, then the error. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly T[], undefined>> {
    if (this.#events.length > 0) return Promise.resolve({ value: this.#takeAll(), done: false });
    const end = this.#end;
    if (end === null) return new Promise((resolve, reject) => (this.#waiter = { resolve, reject }));
    if (end === "clean") return Promise.resolve({ value: undefined, done: true });
    this.#end = "clean";
    return Promise.reject(end.error);
  }

  return(): Promise<IteratorResult<readonly T[], undefined>> {
    this.#events = [];
    if (this.#end === null) this.#flow.leave();
    this.#finish("clean");
    this.#end = "clean";
    return Promise.resolve({ value: undefined, done: true });
  }

  #takeAll(): readonly T[] {
    const events = this.#events;
    this.#events = [];
    this.#waitingCharacters = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow.resume();
    }
    return events;
  }

  #finish(end: { readonly error: unknown } | "clean"): void {
    if (this.#end !== null) return;
    this.#end = end;
    const waiter = this.#waiter;
    this.#waiter = null;
    if (waiter === null) return;
    if (end === "clean") {
      waiter.resolve({ value: undefined, done: true });
      return;
    }
    this.#end = "clean";
    waiter.reject(end.error);
  }
}
