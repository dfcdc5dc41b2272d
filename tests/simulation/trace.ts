const MULTIPLIER = 0x01000193;

/** The steps of one seed: their hash, and the steps themselves if they are to be shown. */
export class Trace {
  readonly #lines: string[] | null;
  #hash = 0x811c9dc5;

  constructor(isKept: boolean) {
    this.#lines = isKept ? [] : null;
  }

  add(at: number, actor: string, label: string): void {
    this.#mix(Math.round(at * 1000));
    this.#mixText(actor);
    this.#mixText(label);
    this.#lines?.push(`${at.toFixed(3).padStart(12)}  ${actor.padEnd(8)}  ${label}`);
  }

  /** Adds what was observed to the step before. */
  note(text: string): void {
    this.#mixText(text);
    this.#lines?.push(`${"".padStart(12)}  ${"".padEnd(8)}    ${text}`);
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  /** The same for the same steps. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  #mixText(text: string): void {
    for (let place = 0; place < text.length; place += 1) this.#mix(text.charCodeAt(place));
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, MULTIPLIER);
  }
}
