import { ContextTooLong } from "@antiphon/domain/storage.ts";

/** More items than any model accepts. */
export const CONTEXT_ITEMS_MAX = 100_000;

/** Limits the stored text that one request loads. Charged before any text is read. */
export class ContextBudget {
  readonly #bytesMax: number;
  #bytes = 0;
  #items = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws `ContextTooLong` if the total exceeds the budget. */
  takeItems(count: number): void {
    this.#items += count;
    if (this.#items > CONTEXT_ITEMS_MAX) throw new ContextTooLong(`more than ${CONTEXT_ITEMS_MAX} items`);
  }

  takeBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) throw new ContextTooLong(`more than ${this.#bytesMax} bytes`);
  }
}
