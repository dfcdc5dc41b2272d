import { LRUCache } from "lru-cache";

/** Limit of the number of texts, for short texts. */
const TEXTS_MAX = 16_384;

/**
 * A cache of texts made from files and recordings, by their content. The least recently used texts are removed first.
 */
export class TextCache {
  readonly #texts: LRUCache<string, string>;

  constructor(charactersMax: number) {
    this.#texts = new LRUCache({
      max: TEXTS_MAX,
      maxSize: charactersMax,
      sizeCalculation: (text) => Math.max(1, text.length), // The library rejects a size of 0.
    });
  }

  /** Returns the text under `key`, or creates it with `make`. Failures are not cached. */
  async get(key: string, make: () => Promise<string>): Promise<string> {
    const earlier = this.#texts.get(key);
    if (earlier !== undefined) return earlier;
    const text = await make();
    this.#texts.set(key, text);
    return text;
  }
}
