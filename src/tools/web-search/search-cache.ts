import type { Owner } from "@antiphon/domain/owner.ts";
import { LRUCache } from "lru-cache";
import type { Hit, SearchProvider, SearchQuery } from "./providers/search-provider.ts";

const CACHE_CHARACTERS_MAX = 8 * 1024 * 1024;
const CACHE_MS = 5 * 60_000;

/** Searches through a provider. A search that the same owner made in the last five minutes is not made again. */
export class SearchCache {
  readonly #provider: SearchProvider;
  readonly #hits = new LRUCache<string, readonly Hit[]>({
    maxSize: CACHE_CHARACTERS_MAX,
    ttl: CACHE_MS,
    sizeCalculation: (hits, key) =>
      hits.reduce((sum, { url, title, snippet }) => sum + url.length + title.length + snippet.length, key.length),
  });

  constructor(provider: SearchProvider) {
    this.#provider = provider;
  }

  /** See `SearchProvider.covers`. */
  get covers(): string | null {
    return this.#provider.covers ?? null;
  }

  /** See `SearchProvider.search`. Failures are not remembered. */
  async search(query: SearchQuery, { organization, project }: Owner, signal: AbortSignal): Promise<readonly Hit[]> {
    const key = JSON.stringify([organization, project, query]);
    const known = this.#hits.get(key);
    if (known !== undefined) return known;
    const hits = await this.#provider.search(query, signal);
    this.#hits.set(key, hits);
    return hits;
  }
}
