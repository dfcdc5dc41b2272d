interface Kept<Value> {
  readonly value: Value;
  readonly size: number;
}

/**
 * Values that can be had again, kept up to a size of all of them together. Those that were not asked for longest leave
 * first.
 */
export class LruCache<Value> {
  readonly #sizeMax: number;
  readonly #kept = new Map<string, Kept<Value>>();
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  find(key: string): Value | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept); // A map keeps the order of insertion: the last used is the last to leave.
    return kept.value;
  }

  /** In place of what was kept under this key. What is larger than all the room is not kept. */
  keep(key: string, value: Value, size: number): void {
    this.#drop(key);
    if (size > this.#sizeMax) return;
    this.#kept.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#sizeMax) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}
