/** Above this number of entries, those of past minutes are removed. */
const ENTRIES_KEPT = 1024;

/** Entries that are valid until their minute ends. */
export class CurrentMinutes<Entry extends { readonly endsAt: number }> {
  readonly #entries = new Map<string, Entry>();

  /** Undefined if there is none, or if its minute is over. */
  get(name: string): Entry | undefined {
    const entry = this.#entries.get(name);
    return entry !== undefined && Date.now() < entry.endsAt ? entry : undefined;
  }

  set(name: string, entry: Entry): void {
    if (this.#entries.size >= ENTRIES_KEPT) this.#removeOver();
    this.#entries.set(name, entry);
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }

  #removeOver(): void {
    const now = Date.now();
    for (const [name, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(name);
  }
}
