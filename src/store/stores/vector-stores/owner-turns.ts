import type { Owner } from "@antiphon/domain/owner.ts";
import { LRUCache } from "lru-cache";

/** Owners beyond this number count as new. */
const OWNERS_MAX = 10_000;

/** Gives owners turns. */
export class OwnerTurns {
  /** When each owner last had a turn, as a count of turns. By size, so that no room is taken beforehand. */
  readonly #had = new LRUCache<string, number>({ maxSize: OWNERS_MAX, sizeCalculation: () => 1 });
  #turns = 0;

  /**
   * Returns the owner whose last turn was longest ago and records a turn; null if nobody waits. Owners without a turn
   * come first, in the given order.
   */
  takeNext(waiting: readonly Owner[]): Owner | null {
    let next: Owner | null = null;
    for (const owner of waiting) if (next === null || this.#lastOf(owner) < this.#lastOf(next)) next = owner;
    if (next !== null) this.#had.set(ownerKey(next), ++this.#turns);
    return next;
  }

  #lastOf(owner: Owner): number {
    return this.#had.peek(ownerKey(owner)) ?? 0;
  }
}

function ownerKey({ organization, project }: Owner): string {
  return JSON.stringify([organization, project]);
}
