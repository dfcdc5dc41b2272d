import { LRUCache } from "lru-cache";

/** Of texts that are kept together, however short they are. */
const TEXTS_MAX = 16_384;

/**
 * Texts made of files and recordings, by what they were made of; the ones that were not used for longest leave first.
 */
export class TextCache {
  readonly #texts: LRUCache<string, string>;

  constructor(charactersMax: number) {
    this.#texts = new LRUCache({
      max: TEXTS_MAX,
      maxSize: charactersMax,
      sizeCalculation: (text) => Math.max(1, text.length), // The library takes no size of 0.
    });
  }

  /** The text under `key`, made by `make` if it is not there. Failures are not remembered. */
  async get(key: string, make: () => Promise<string>): Promise<string> {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = await make();
    this.#texts.set(key, text);
    return text;
  }
}
