import { LRUCache } from "lru-cache";
import { expect, test } from "vitest";

/** What we rely on in the library: the total size is limited, and the values used last stay. */
class Kept {
  readonly #cache: LRUCache<string, readonly string[]>;

  constructor(maxSize: number) {
    this.#cache = new LRUCache({ maxSize });
  }

  keep(key: string, value: readonly string[], size: number): void {
    this.#cache.set(key, value, { size });
  }

  find(key: string): readonly string[] | null {
    return this.#cache.get(key) ?? null;
  }
}

test("items that were not asked for longest leave first, once more is kept than there is room for", () => {
  const cache = new Kept(10);
  cache.keep("a", items("a"), 4);
  cache.keep("b", items("b"), 4);
  expect(cache.find("a")).toEqual(items("a"));
  cache.keep("c", items("c"), 4);
  expect(["a", "b", "c"].filter((id) => cache.find(id) !== null)).toEqual(["a", "c"]);
});

test("items kept again take their room once", () => {
  const cache = new Kept(10);
  for (let time = 0; time < 5; time++) cache.keep("a", items("a"), 4);
  cache.keep("b", items("b"), 4);
  expect(cache.find("a")).not.toBeNull();
});

test("items that are too many to be kept are not", () => {
  const cache = new Kept(10);
  cache.keep("a", items("a"), 4);
  cache.keep("b", items("b"), 11);
  expect([cache.find("a"), cache.find("b")]).toEqual([items("a"), null]);
});

function items(id: string): readonly string[] {
  return [id];
}
