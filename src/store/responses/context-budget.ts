import { ContextTooLong } from "../../responses-api/ports.ts";

/** More items than any model is shown; to list them alone takes a while. */
export const CONTEXT_ITEMS_MAX = 100_000;

/** How much stored text one request may bring into memory. It is asked before any text is read. */
export class ContextBudget {
  readonly #bytesMax: number;
  #bytes = 0;
  #items = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws `ContextTooLong` for what is too much, together with all that was taken before. */
  takeItems(count: number): void {
    this.#items += count;
    if (this.#items > CONTEXT_ITEMS_MAX) throw new ContextTooLong(`more than ${CONTEXT_ITEMS_MAX} items`);
  }

  takeBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) throw new ContextTooLong(`more than ${this.#bytesMax} bytes`);
  }
}
