import { expect, test } from "vitest";
import { TextCache } from "./text-cache.ts";

/** Gets texts by name; the number in a name is the text's length. Returns the names whose texts were made. */
async function made(cache: TextCache, ...names: readonly string[]): Promise<string[]> {
  const making: string[] = [];
  for (const name of names) {
    const text = await cache.get(name, async () => {
      making.push(name);
      return "x".repeat(Number(name.slice(1)));
    });
    expect(text).toHaveLength(Number(name.slice(1)));
  }
  return making;
}

test("a text is made once", async () => {
  expect(await made(new TextCache(10), "a4", "a4", "a4")).toEqual(["a4"]);
});

test("the least recently used texts are removed first", async () => {
  const cache = new TextCache(10);
  expect(await made(cache, "a4", "b4", "a4", "c4")).toEqual(["a4", "b4", "c4"]);
  expect(await made(cache, "a4", "c4", "b4")).toEqual(["b4"]);
});

test("a text that is too long is not cached, and removes no other", async () => {
  expect(await made(new TextCache(10), "a4", "b11", "b11", "a4")).toEqual(["a4", "b11", "b11"]);
});

test("a failure is not cached", async () => {
  const cache = new TextCache(10);
  await expect(cache.get("a1", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await made(cache, "a1")).toEqual(["a1"]);
});

test("a text that two callers make at the same time counts once", async () => {
  const cache = new TextCache(10);
  await Promise.all([made(cache, "a4"), made(cache, "a4")]);
  expect(await made(cache, "b4", "a4", "b4")).toEqual(["b4"]);
});

test("empty texts are cached, up to a limit", async () => {
  const names = Array.from({ length: 11 }, (_one, index) => `${String.fromCharCode(97 + index)}0`);
  const cache = new TextCache(10);
  expect(await made(cache, ...names, "k0", "a0")).toEqual([...names, "a0"]);
});
