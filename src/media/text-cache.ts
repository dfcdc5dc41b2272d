import { LruCache } from "../base/limits/lru-cache.ts";

/**
 * Texts made of files and recordings, by what they were made of; the ones that were not used for longest leave first.
 */
export class TextCache {
  readonly #texts: LruCache<string>;

  constructor(charactersMax: number) {
    this.#texts = new LruCache(charactersMax);
  }

  /** The text under `key`, made by `make` if it is not there. Failures are not remembered. */
  async get(key: string, make: () => Promise<string>): Promise<string> {
    const known = this.#texts.find(key);
    if (known !== null) return known;
    const text = await make();
    this.#texts.keep(key, text, text.length);
    return text;
  }
}
