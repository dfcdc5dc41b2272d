import { expect, test } from "vitest";
import { hashApiKey, maskApiKey, newApiKey } from "./api-key.ts";

test("a new key has the prefix and 48 letters and digits", () => {
  expect(newApiKey()).toMatch(/^sk-antiphon-[0-9A-Za-z]{48}$/);
});

test("no two keys are alike", () => {
  expect(new Set(Array.from({ length: 1000 }, newApiKey)).size).toBe(1000);
});

test("the hash of a key is its SHA-256 in hex", () => {
  expect(hashApiKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test.each([
  ["your_api_key_here", "your_api*****here"],
  ["dummy", "dummy"],
  ["twelve chars", "twelve chars"],
  ["", ""],
])("%j is shown as %j", (key, shown) => {
  expect(maskApiKey(key)).toBe(shown);
});

test("a masked key is as long as the key", () => {
  const key = newApiKey();
  expect(maskApiKey(key)).toBe(`sk-antip${"*".repeat(48)}${key.slice(-4)}`);
});
