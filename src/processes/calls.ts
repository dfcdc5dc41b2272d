/** Requests that wait for a reply of another process. */
export class Calls<Answer> {
  readonly #waiting = new Map<number, (answer: Answer | null) => void>();
  #last = 0;

  /** Sends a request with a new number. Resolves to null if there is no reply in time. */
  ask(send: (call: number) => void, timeoutMs: number): Promise<Answer | null> {
    this.#last += 1;
    const call = this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(call, null), timeoutMs);
      this.#waiting.set(call, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      send(call);
    });
  }

  /** Drops late replies. */
  answer(call: number, answer: Answer): void {
    this.#settle(call, answer);
  }

  #settle(call: number, answer: Answer | null): void {
    this.#waiting.get(call)?.(answer);
    this.#waiting.delete(call);
  }
}
