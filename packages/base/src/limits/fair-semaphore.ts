import { Semaphore } from "./semaphore.ts";

/**
 * A semaphore in which no owner can occupy all places: further requests of an owner wait for that owner's own places.
 */
export class FairSemaphore {
  readonly #all: Semaphore;
  readonly #perOwner: number;
  readonly #owners = new Map<string, { readonly slots: Semaphore; users: number }>();

  /** `perOwner` must be less than `count`, so that one owner can never take every place. */
  constructor(count: number, perOwner: number) {
    this.#all = new Semaphore(count);
    this.#perOwner = perOwner;
  }

  /**
   * Waits for a place and returns a function that releases it, to be called once. Rejects with the signal's reason if
   * the signal aborts first.
   */
  async take(owner: string, signal: AbortSignal): Promise<() => void> {
    const own = this.#owners.get(owner) ?? { slots: new Semaphore(this.#perOwner), users: 0 };
    this.#owners.set(owner, own);
    own.users += 1;
    const leave = (): void => {
      own.users -= 1;
      if (own.users === 0) this.#owners.delete(owner);
    };
    try {
      const giveBackOwn = await own.slots.take(signal);
      try {
        const giveBack = await this.#all.take(signal);
        return () => {
          giveBack();
          giveBackOwn();
          leave();
        };
      } catch (error) {
        giveBackOwn();
        throw error;
      }
    } catch (error) {
      leave();
      throw error;
    }
  }
}
