interface Cell<V> {
  value: V | undefined;
}

/**
 * A map of values that live for about one request. A `Map` that changes often is copied into a new table repeatedly,
 * and V8 links each table to its successor: once a table is in the old generation, every value of later tables stays in
 * memory until a full collection. Here, the tables contain cells, and a cell is emptied when its value is removed.
 */
export class ShortLivedMap<K, V> {
  readonly #cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  has(key: K): boolean {
    return this.#cells.has(key);
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  /** The key must be new. */
  add(key: K, value: V): void {
    this.#cells.set(key, { value });
  }

  delete(key: K): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    cell.value = undefined;
    this.#cells.delete(key);
  }

  /** In order of insertion. */
  *values(): Generator<V, void> {
    for (const { value } of this.#cells.values()) if (value !== undefined) yield value;
  }

  /** In the same order. */
  keys(): IterableIterator<K> {
    return this.#cells.keys();
  }
}
