import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JSON_DEPTH_MAX, JSON_VALUES_MAX, JsonAssembler } from "./json-assembler.ts";

const REFUSED = Symbol("refused");

/** The result for the bytes cut at these places. */
function assembled(bytes: Buffer, cuts: readonly number[]): unknown {
  const assembler = new JsonAssembler();
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].toSorted((a, b) => a - b);
  try {
    for (const [index, place] of places.entries()) assembler.add(bytes.subarray(places[index - 1] ?? 0, place));
    return assembler.end();
  } catch {
    return REFUSED;
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return REFUSED;
  }
}

/** Compares the JSON as well, because `toEqual` ignores the order of members and a member named `__proto__`. */
function check(bytes: Buffer, cuts: readonly number[]): void {
  const own = assembled(bytes, cuts);
  const usual = parsed(bytes);
  expect(own).toEqual(usual);
  expect(JSON.stringify(own)).toBe(JSON.stringify(usual));
}

/** Without a lone backslash: V8 sometimes confuses it with an escape in a member's name of a later object. */
const name = fc.oneof(
  fc.constantFrom("a", "b", "__proto__", "constructor", "0", "", "\\u0061", '\\"'),
  fc.string({ maxLength: 5 }).map((text) => text.replaceAll(/["\\]/g, "")),
);
const longText = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).map((unit) => unit.repeat(700)),
  fc.constantFrom(
    "\\".repeat(2100),
    '"\\'.repeat(900),
    "\uFEFFx".repeat(900),
    "😀".repeat(800),
    "\u0000\n".repeat(600),
  ),
);
/** JSON as text, with repeated names, long strings and white space. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("1", "-2.5e3", "true", "null", '"x"', '"\\ud83d\\ude00\\\\"', "[]", "{ }"),
    longText.map((text) => JSON.stringify(text)),
    longText.map((text) =>
      JSON.stringify(text).replaceAll(
        /[^\\"a-z0-9]/g,
        (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    ),
    fc.array(tie("json"), { maxLength: 6 }).map((elements) => `[${elements.join(" ,")}]`),
    fc
      .array(fc.tuple(name, tie("json")), { maxLength: 6 })
      .map((members) => `{${members.map(([key, value]) => `"${key}" :${value}`).join(",\n")}}`),
  ),
}));
const cuts = fc.array(fc.nat(20_000), { maxLength: 12 });

describe("JSON in pieces", () => {
  test("gives the same value as the whole text, wherever it is cut", () => {
    fc.assert(
      fc.property(json, cuts, (text, places) => check(Buffer.from(text), places)),
      { numRuns: 400 },
    );
  });

  test("is refused exactly when the whole text is refused", () => {
    const changed = fc.tuple(json, fc.nat(), fc.nat(3), fc.constantFrom(...'{}[]",:\\ 01e-tu\u0000\ufeff', "\xff", ""));
    fc.assert(
      fc.property(changed, cuts, ([text, at, removed, put], places) => {
        const bytes = Buffer.from(text);
        const start = at % (bytes.length + 1);
        const written = put === "\xff" ? Buffer.of(0xff) : Buffer.from(put);
        check(Buffer.concat([bytes.subarray(0, start), written, bytes.subarray(start + removed)]), places);
      }),
      { numRuns: 1500 },
    );
  });

  test("is read correctly one byte at a time", () => {
    const text = '\ufeff {"a":1[2],"b":[1,,2],"c":[1,],"d":{,},"e":1 2,"f":tru,"g":[[1] [2]],"h":"\ud83d\ude00\\""}';
    const samples = [...text.matchAll(/"[a-h]":(.+?)(?=,"[a-h]":|\}$)/g)].map(([, value = ""]) => value);
    for (const sample of [
      ...samples,
      "",
      " ",
      "1",
      "1 2",
      "1,2",
      "[1],",
      "[]]",
      '{"a":{"b":[1,{"c":"d"}],"e":2},"a":3}',
      "\ufeff[1]",
    ]) {
      const bytes = Buffer.from(sample);
      check(
        bytes,
        Array.from({ length: bytes.length }, (_, place) => place),
      );
    }
  });

  test("may reach the limits of depth and values, but not exceed them", () => {
    const nested = (depth: number): Buffer => Buffer.from("[".repeat(depth) + "]".repeat(depth));
    expect(assembled(nested(JSON_DEPTH_MAX), [300])).not.toBe(REFUSED);
    expect(assembled(nested(JSON_DEPTH_MAX + 1), [300])).toBe(REFUSED);
    const valued = (count: number): Buffer => Buffer.from(`[${"1,".repeat(count - 1)}1]`);
    expect(assembled(valued(JSON_VALUES_MAX), [300_000])).toHaveLength(JSON_VALUES_MAX);
    expect(assembled(valued(JSON_VALUES_MAX + 1), [300_000])).toBe(REFUSED);
  });

  test("may have long white space, but no endless name or number", () => {
    const blanks = Array.from({ length: 8 }, () => Buffer.alloc(512 * 1024, " "));
    const read = (...pieces: readonly (string | Buffer)[]): unknown => {
      const assembler = new JsonAssembler();
      for (const piece of pieces) assembler.add(Buffer.from(piece));
      return assembler.end();
    };
    expect(read(...blanks, "[", ...blanks, "1,", ...blanks, "2]", ...blanks)).toEqual([1, 2]);
    const digits = blanks.map(({ length }) => Buffer.alloc(length, "1"));
    expect(() => read("[", ...digits, "]")).toThrow(SyntaxError);
    expect(() => read('{"', ...digits, '":1}')).toThrow(SyntaxError);
    expect(read('{"a":"', ...digits, '"}')).toEqual({ a: "1".repeat(8 * 512 * 1024) });
  });
});
