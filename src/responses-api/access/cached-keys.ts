import type { KeyFinder, KnownKey } from "@antiphon/domain/keys.ts";

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
  readonly #entries = new Map<string, CachedKey>();
  #lookups = new Map<string, Promise<KnownKey | null>>();

  constructor(keys: KeyFinder) {
    this.#keys = keys;
  }

  async findByHash(hash: string): Promise<KnownKey | null> {
    const entry = this.#entries.get(hash);
    if (entry !== undefined && performance.now() < entry.until) return entry.key;
    this.#entries.delete(hash);
    const lookup = this.#lookups.get(hash) ?? this.#ask(hash);
    this.#lookups.set(hash, lookup);
    return await lookup;
  }

  /** Clears the cache, because some key was changed. */
  forget(): void {
    this.#entries.clear();
    this.#lookups = new Map(); // Lookups started before the change serve only their callers.
  }

  async #ask(hash: string): Promise<KnownKey | null> {
    const until = performance.now() + KEY_CACHE_MS; // The key may be revoked as soon as it was read.
    const lookups = this.#lookups;
    try {
      const key = await this.#keys.findByHash(hash);
      if (key !== null && lookups === this.#lookups) this.#remember(hash, { key, until });
      return key;
    } finally {
      lookups.delete(hash);
    }
  }

  #remember(hash: string, entry: CachedKey): void {
    const [oldest] = this.#entries.size < CACHED_KEYS_MAX ? [] : this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(hash, entry);
  }
}
