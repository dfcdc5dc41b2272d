/** Messages that may wait for their reader before writers wait too; each writer may then be one message ahead. */
const WAITING_MESSAGES_MAX = 32;

/** Brings the messages of many writers to one reader, who sets the pace. */
export class BoundedMessageQueue {
  #waiting: object[] = [];
  #ended = false;
  #fault: { readonly error: unknown } | null = null;
  #wakeReader: () => void = () => {};
  #wakeWriters: (() => void)[] = [];

  /** Resolves when there is room for more. A message for a reader who has left is dropped. */
  put(message: object): Promise<void> | undefined {
    if (this.#ended) return undefined;
    this.#waiting.push(message);
    this.#wakeReader();
    if (this.#waiting.length < WAITING_MESSAGES_MAX) return undefined;
    return new Promise((resolve) => this.#wakeWriters.push(resolve));
  }

  /** Nothing more comes; what waits is still read. */
  end(): void {
    this.#ended = true;
    this.#wakeReader();
    this.#letWrite();
  }

  /** The same, and then the reader meets this error. */
  fail(error: unknown): void {
    this.#fault ??= { error };
    this.end();
  }

  /** Nobody reads any more. */
  close(): void {
    this.#waiting = [];
    this.end();
  }

  async *messages(): AsyncGenerator<object> {
    for (;;) {
      const taken = this.#waiting;
      this.#waiting = [];
      this.#letWrite();
      yield* taken;
      if (this.#waiting.length > 0) continue;
      if (this.#fault !== null) throw this.#fault.error;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #letWrite(): void {
    const writers = this.#wakeWriters;
    this.#wakeWriters = [];
    for (const wake of writers) wake();
  }
}
