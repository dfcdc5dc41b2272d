import type { StoredItem } from "../../generated/responses-api/types.ts";

interface Kept {
  readonly items: readonly StoredItem[];
  readonly characters: number;
}

/**
 * Items of responses that have ended, which never change, so that a chain is not read anew for each of its turns. Those that were not asked for longest
 * leave first. Whether a response is there, and whose it is, only the database knows.
 */
export class ItemCache {
  readonly #charactersMax: number;
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  /** `charactersMax`: how much JSON the items are at most that are kept. */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  find(responseId: string): readonly StoredItem[] | null {
    const kept = this.#kept.get(responseId);
    if (kept === undefined) return null;
    this.#kept.delete(responseId);
    this.#kept.set(responseId, kept); // A map keeps the order of insertion: the last used is the last to leave.
    return kept.items;
  }

  /** `characters`: of their JSON. */
  keep(responseId: string, items: readonly StoredItem[], characters: number): void {
    this.#drop(responseId);
    if (characters > this.#charactersMax) return;
    this.#kept.set(responseId, { items, characters });
    this.#characters += characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= this.#charactersMax) return;
      this.#drop(oldest);
    }
  }

  #drop(responseId: string): void {
    this.#characters -= this.#kept.get(responseId)?.characters ?? 0;
    this.#kept.delete(responseId);
  }
}
