import type { KeyFinder, KnownKey } from "../../domain/keys.ts";

/** The maximum of cached keys. */
const CACHED_KEYS_MAX = 1024;
/** How long a key is cached, in milliseconds; a revoked key can work for that long. */
export const KEY_CACHE_MS = 2_000;

interface CachedKey {
  readonly key: KnownKey;
  readonly until: number;
}

/** Caches keys for a moment. Concurrent requests with the same key share one lookup. */
export class CachedKeys implements KeyFinder {
  readonly #keys: KeyFinder;
  readonly #cached = new Map<string, CachedKey>();
  #asked = new Map<string, Promise<KnownKey | null>>();

  constructor(keys: KeyFinder) {
    this.#keys = keys;
  }

  async findByHash(hash: string): Promise<KnownKey | null> {
    const known = this.#cached.get(hash);
    if (known !== undefined && performance.now() < known.until) return known.key;
    this.#cached.delete(hash);
    const asked = this.#asked.get(hash) ?? this.#ask(hash);
    this.#asked.set(hash, asked);
    return await asked;
  }

  /** Clears the cache, because some key was changed. */
  forget(): void {
    this.#cached.clear();
    this.#asked = new Map(); // Lookups started before the change serve only their callers.
  }

  async #ask(hash: string): Promise<KnownKey | null> {
    const until = performance.now() + KEY_CACHE_MS; // The key may be revoked as soon as it was read.
    const asked = this.#asked;
    try {
      const key = await this.#keys.findByHash(hash);
      if (key !== null && asked === this.#asked) this.#remember(hash, { key, until });
      return key;
    } finally {
      asked.delete(hash);
    }
  }

  #remember(hash: string, cached: CachedKey): void {
    const [oldest] = this.#cached.size < CACHED_KEYS_MAX ? [] : this.#cached.keys();
    if (oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(hash, cached);
  }
}
