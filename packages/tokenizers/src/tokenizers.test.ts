import fc from "fast-check";
import cl100k from "gpt-tokenizer/bpeRanks/cl100k_base";
import o200k from "gpt-tokenizer/bpeRanks/o200k_base";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../tests/kit/cpu-time.ts";
import { verifies } from "../../../tests/verifies.ts";
import { pieces } from "./count-texts.ts";
import { readImageSize } from "./image-size.ts";
import { imageTokens } from "./image-tokens.ts";
import { chooseEncoding, tokenizerFor } from "./tokenizer.ts";
import { readVocabulary } from "./vocabulary.ts";

const stays = new AbortController().signal;

test.each([
  ["gpt-4o-2024-08-06", "o200k_base"],
  ["openai/gpt-4.1-mini", "o200k_base"],
  ["gpt-5.2", "o200k_base"],
  ["o3-mini", "o200k_base"],
  ["gpt-oss:20b", "o200k_base"],
  ["gpt-4-turbo", "cl100k_base"],
  ["gpt-3.5-turbo", "cl100k_base"],
  ["meta-llama/Llama-3.3-70B-Instruct", "cl100k_base"],
  ["qwen3:8b", "cl100k_base"],
  ["some-model-of-tomorrow", "o200k_base"],
] as const)("the tokens of %s are counted with %s", (model, encoding) => {
  expect(chooseEncoding(model)).toBe(encoding);
});

test.each([
  ["o200k_base", o200k],
  ["cl100k_base", cl100k],
] as const)("the tokens of %s are those of the library's module", async (encoding, tokens) => {
  const read = await readVocabulary(encoding);
  expect(read.length).toBe(tokens.length);
  expect(read.filter((token, rank) => JSON.stringify(token) !== JSON.stringify(tokens[rank]))).toEqual([]);
});

describe("a tokenizer", () => {
  test("counts as the published encodings do", async () => {
    const newer = tokenizerFor("gpt-4o");
    const older = tokenizerFor("gpt-4");
    expect(await newer.count(["hello world"], stays)).toBe(2);
    expect(await older.count(["hello world"], stays)).toBe(2);
    expect(await older.count(["antidisestablishmentarianism"], stays)).toBe(6);
    expect(await newer.count(["<|endoftext|>"], stays)).toBeGreaterThan(1);
    expect(await newer.count([""], stays)).toBe(0);
  });

  test("counts long text without a space quickly, and stops when its signal aborts", async () => {
    const tokenizer = tokenizerFor("gpt-4o");
    const { ms, result } = await cpuMsOf(() => tokenizer.count(["a".repeat(1_000_000)], stays));
    expect(result).toBeGreaterThan(100_000);
    expect(ms).toBeLessThan(3000);
    expect(await tokenizer.count(["word ".repeat(1_000_000)], AbortSignal.abort())).toBeLessThan(100_000);
  });

  test("estimates text beyond its limit from the text before", async () => {
    const tokenizer = tokenizerFor("gpt-4o");
    const counted = await tokenizer.count(["word ".repeat(1_600_000)], stays);
    expect(Math.abs(counted - 1_600_000)).toBeLessThan(2000);
  }, 20_000);
});

test("pieces add up to the text, and no character is cut in two", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 9000, size: "max" }),
    fc.constant("😀".repeat(3001)),
    fc.constant(`${"x".repeat(255)}😀 y`),
  );
  fc.assert(
    fc.property(text, (whole) => {
      const cut = [...pieces(whole)];
      expect(cut.join("")).toBe(whole);
      for (const piece of cut) {
        expect(piece.length).toBeLessThanOrEqual(256);
        if (whole.isWellFormed()) expect(piece.isWellFormed()).toBe(true);
      }
    }),
  );
});

describe("the size of an image", () => {
  const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));

  test.each([
    [
      "PNG",
      bytes([0x89], "PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, 2, 128, 0, 0, 1, 224]),
      { width: 640, height: 480 },
    ],
    ["GIF", bytes("GIF89a", [0x80, 0x02, 0xe0, 0x01]), { width: 640, height: 480 }],
    [
      "JPEG",
      bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc0, 0, 11, 8, 1, 224, 2, 128, 1, 1, 0x11, 0]),
      { width: 640, height: 480 },
    ],
    [
      "WebP, simple",
      bytes("RIFF", [0, 0, 0, 0], "WEBPVP8 ", [10, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1]),
      { width: 640, height: 480 },
    ],
    [
      "WebP, lossless",
      bytes("RIFF", [0, 0, 0, 0], "WEBPVP8L", [10, 0, 0, 0, 0x2f, 0x7f, 0xc2, 0x77, 0, 0, 0, 0, 0, 0]),
      { width: 640, height: 480 },
    ],
    [
      "WebP, extended",
      bytes("RIFF", [0, 0, 0, 0], "WEBPVP8X", [10, 0, 0, 0, 0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0]),
      { width: 640, height: 480 },
    ],
  ])("is read from a %s", (_kind, picture, size) => {
    expect(readImageSize(picture)).toEqual(size);
  });

  test("is null for anything else, even for truncated bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (noise) => void readImageSize(Buffer.from(noise))));
    expect(readImageSize(Buffer.from("%PDF-1.7 and so on, a text of some length"))).toBeNull();
    expect(readImageSize(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0, 0, 0]))).toBeNull();
  });
});

test.each([
  ["gpt-4o", "high", { width: 1024, height: 1024 }, 765],
  ["gpt-4o", "high", { width: 2048, height: 4096 }, 1105],
  ["gpt-4o", "low", { width: 4096, height: 8192 }, 85],
  ["gpt-4o", "auto", null, 765],
  ["openai/gpt-4o-mini", "low", null, 2833],
  ["gpt-5", "high", { width: 512, height: 512 }, 210],
  ["gpt-4.1-mini", "high", { width: 1024, height: 1024 }, 1659],
  ["o4-mini", "high", { width: 10_000, height: 10_000 }, 2642],
] as const)("an image for %s with detail %s", (model, detail, size, tokens) => {
  expect(imageTokens(model, detail, size)).toBe(tokens);
});

describe("counting the tokens of a hostile text", () => {
  const distinct = (count: number): string =>
    Array.from({ length: count }, (_, index) => ((index * 2_654_435_761) >>> 0).toString(36)).join(" ");

  test.each([
    ["words that never repeat, then apostrophes", `${distinct(150_000)}${"'s".repeat(150_000)}`],
    ["letters of three bytes without a space", "漢字仮名交".repeat(50_000)],
    ["syllables of many bytes", "नमस्ते".repeat(50_000)],
    ["marks on letters", "a\u0301\u0302\u0303".repeat(60_000)],
  ])(
    "does not block the event loop: %s",
    async (_name, text) => {
      verifies("limits.work.counting-in-slices");
      const tokenizer = tokenizerFor("gpt-4o");
      await tokenizer.count([text.slice(0, 1000)], stays);
      let turns = 0;
      let isDone = false;
      const watch = (): void => {
        turns += 1;
        if (!isDone) setImmediate(watch);
      };
      setImmediate(watch);
      const { ms } = await cpuMsOf(() => tokenizer.count([text, text], stays));
      isDone = true;
      expect(ms).toBeLessThan(6_000);
      // A slice computes for four milliseconds; the rest allows for other work of the machine.
      expect(turns * 60).toBeGreaterThan(ms);
    },
    30_000,
  );

  test("has an upper limit for all texts together", async () => {
    verifies("limits.work.counting-in-slices");
    const tokenizer = tokenizerFor("gpt-4o");
    const texts = Array.from({ length: 60 }, () => "word ".repeat(200_000));
    const { ms, result } = await cpuMsOf(() => tokenizer.count(texts, stays));
    expect(Math.abs(result - 12_000_000)).toBeLessThan(20_000);
    expect(ms).toBeLessThan(6_000);
  }, 30_000);
});
