/** With this many waiting messages, `put` makes its writer wait, so each writer can add one more. */
const WAITING_MESSAGES_MAX = 32;

/** Relays the messages of many writers to one reader, at the reader's pace. */
export class BoundedMessageQueue {
  #waiting: object[] = [];
  #isEnded = false;
  #fault: { readonly error: unknown } | null = null;
  #wakeReader: () => void = () => {};
  #wakeWriters: (() => void)[] = [];

  /** Adds a message. Returns a promise if the writer should wait for room. After the end, messages are dropped. */
  put(message: object): Promise<void> | undefined {
    if (this.#isEnded) return undefined;
    this.#waiting.push(message);
    this.#wakeReader();
    if (this.#waiting.length < WAITING_MESSAGES_MAX) return undefined;
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  /** Ends the messages; waiting ones are still read. */
  end(): void {
    this.#isEnded = true;
    this.#wakeReader();
    this.#wakeAllWriters();
  }

  /** Ends the messages; after the waiting ones, the reader gets this error. */
  fail(error: unknown): void {
    this.#fault ??= { error };
    this.end();
  }

  /** Drops all messages, because the reader has left. */
  close(): void {
    this.#waiting = [];
    this.end();
  }

  async *messages(): AsyncGenerator<object> {
    for (;;) {
      const batch = this.#waiting;
      this.#waiting = [];
      this.#wakeAllWriters();
      yield* batch;
      if (this.#waiting.length > 0) continue;
      if (this.#fault !== null) throw this.#fault.error;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #wakeAllWriters(): void {
    const writers = this.#wakeWriters;
    this.#wakeWriters = [];
    for (const wake of writers) wake();
  }
}
