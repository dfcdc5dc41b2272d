/** Texts made of files and recordings, by what they were made of; the ones that were not used for longest leave first. */
export class TextCache {
  readonly #charactersMax: number;
  readonly #texts = new Map<string, string>();
  #characters = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** The text under `key`, made by `make` if it is not there. Failures are not remembered. */
  async get(key: string, make: () => Promise<string>): Promise<string> {
    const known = this.#texts.get(key);
    if (known !== undefined) {
      this.#texts.delete(key);
      this.#texts.set(key, known); // Last used, last to leave.
      return known;
    }
    const text = await make();
    this.#keep(key, text);
    return text;
  }

  #keep(key: string, text: string): void {
    const earlier = this.#texts.get(key);
    if (earlier !== undefined) this.#drop(key, earlier); // Two made it at the same time.
    if (text.length > this.#charactersMax) return;
    this.#texts.set(key, text);
    this.#characters += text.length;
    for (const [oldest, kept] of this.#texts) {
      if (this.#characters <= this.#charactersMax) return;
      this.#drop(oldest, kept);
    }
  }

  #drop(key: string, text: string): void {
    this.#texts.delete(key);
    this.#characters -= text.length;
  }
}
