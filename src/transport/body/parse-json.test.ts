import { expect, test } from "vitest";
import { sampleFaults } from "../http/sample-interface.fixture.ts";
import { JSON_DEPTH_MAX, JSON_VALUES_MAX, parseJson } from "./parse-json.ts";

function check(text: string, value: unknown): void {
  expect(parseJson(Buffer.from(text), sampleFaults)).toEqual(value);
}

function checkRefused(text: string): void {
  expect(() => parseJson(Buffer.from(text), sampleFaults)).toThrow("invalid_json");
}

test("JSON may be as deep as the limit and no deeper", () => {
  const nested = (depth: number) => "[".repeat(depth) + '"x"' + "]".repeat(depth);
  expect(() => parseJson(Buffer.from(nested(JSON_DEPTH_MAX)), sampleFaults)).not.toThrow();
  checkRefused(nested(JSON_DEPTH_MAX + 1));
  checkRefused('{"a":'.repeat(JSON_DEPTH_MAX + 1));
});

test("brackets inside strings do not count, however they are escaped", () => {
  const brackets = "[".repeat(1000);
  check(`["\\"${brackets}"]`, [`"${brackets}`]);
  check(`["${brackets}\\\\"]`, [`${brackets}\\`]);
  checkRefused(`["\\\\",${brackets}`);
});

test("a text of too many values is refused before it becomes a heap of them", () => {
  checkRefused(`[${"{},".repeat(JSON_VALUES_MAX / 2)}{}]`);
});

test("a byte order mark is skipped, and a broken string that never ends is an error", () => {
  check("\uFEFF1", 1);
  checkRefused(`["${"x".repeat(1000)}`);
});
