import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from "@antiphon/base/json/json-assembler.ts";
import { AT_ONCE_BYTES_MAX } from "@antiphon/base/json/read-json-in-slices.ts";
import { expect, test } from "vitest";
import { sampleFaults } from "../http/sample-interface.fixture.ts";
import { parseJsonChunks } from "./parse-json.ts";

/** Appended to each text: nothing, or enough that it is read in pieces. */
const MARGINS = ["", " ".repeat(AT_ONCE_BYTES_MAX)];

async function check(text: string, value: unknown): Promise<void> {
  for (const margin of MARGINS)
    expect(await parseJsonChunks([Buffer.from(text + margin)], sampleFaults)).toEqual(value);
}

async function checkRefused(text: string): Promise<void> {
  for (const margin of MARGINS)
    await expect(async () => parseJsonChunks([Buffer.from(text + margin)], sampleFaults)).rejects.toThrow(
      "invalid_json",
    );
}

test("JSON may be as deep as the limit and no deeper", async () => {
  const nested = (depth: number) => "[".repeat(depth) + '"x"' + "]".repeat(depth);
  for (const margin of MARGINS) await parseJsonChunks([Buffer.from(nested(JSON_DEPTH_MAX) + margin)], sampleFaults);
  await checkRefused(nested(JSON_DEPTH_MAX + 1));
  await checkRefused('{"a":'.repeat(JSON_DEPTH_MAX + 1));
});

test("brackets inside strings do not count as nesting, also after escaped quotes", async () => {
  const brackets = "[".repeat(1000);
  await check(`["\\"${brackets}"]`, [`"${brackets}`]);
  await check(`["${brackets}\\\\"]`, [`${brackets}\\`]);
  await checkRefused(`["\\\\",${brackets}`);
});

test("a text with too many values is refused", async () => {
  await checkRefused(`[${"{},".repeat(JSON_VALUES_MAX / 2)}{}]`);
});

test("a byte order mark is skipped, and an unfinished string is refused", async () => {
  await check("\uFEFF1", 1);
  await checkRefused(`["${"x".repeat(1000)}`);
});

test("a large text may be given in any chunks, and the event loop runs while it is parsed", async () => {
  const body = { input: Array.from({ length: 30 }, (_, index) => ({ content: `${index}\\"é`.repeat(40_000) })) };
  const text = Buffer.from(JSON.stringify(body));
  const chunks = Array.from({ length: Math.ceil(text.length / 65_000) }, (_, index) =>
    text.subarray(index * 65_000, (index + 1) * 65_000),
  );
  for (const sent of [chunks, [text]]) {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    expect(await parseJsonChunks(sent, sampleFaults)).toEqual(body);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(text.length / (16 * 1024 * 1024));
  }
});
