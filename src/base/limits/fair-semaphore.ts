import { Semaphore } from "./semaphore.ts";

/**
 * Places for what may happen only so many times at once, of which no owner can hold all: the others of an owner wait
 * behind its own.
 */
export class FairSemaphore {
  readonly #all: Semaphore;
  readonly #perOwner: number;
  readonly #owners = new Map<string, { readonly slots: Semaphore; users: number }>();

  /** `perOwner` is less than `count`, so that there is always a place that one owner alone cannot take. */
  constructor(count: number, perOwner: number) {
    this.#all = new Semaphore(count);
    this.#perOwner = perOwner;
  }

  /**
   * A place, to be given back by calling what is returned, once. Rejects with the signal's reason if that aborts
   * before.
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
