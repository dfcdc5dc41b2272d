import { Semaphore } from "@antiphon/base/limits/semaphore.ts";

interface CallLine {
  readonly turn: Semaphore;
  /** The running call and the waiting ones. */
  calls: number;
}

/** Queues of calls, by key. The calls of one queue run one after the other, in order of arrival. */
export class CallLines {
  readonly #lines = new Map<string, CallLine>();
  readonly #callsMax: number;

  /** `callsMax`: the maximum calls per queue. */
  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /**
   * Waits for its turn, and returns a function that ends it, to be called once. Null if too many are waiting. Rejects
   * with the signal's reason.
   */
  async enter(key: string, signal: AbortSignal): Promise<(() => void) | null> {
    const line = this.#lines.get(key) ?? { turn: new Semaphore(1), calls: 0 };
    if (line.calls >= this.#callsMax) return null;
    this.#lines.set(key, line);
    line.calls += 1;
    const leave = (): void => {
      line.calls -= 1;
      if (line.calls === 0) this.#lines.delete(key);
    };
    try {
      const endTurn = await line.turn.take(signal);
      return () => {
        leave();
        endTurn();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  isEmpty(key: string): boolean {
    return !this.#lines.has(key);
  }
}
