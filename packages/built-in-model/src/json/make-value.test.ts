import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { guessHints } from "./hints.ts";
import { makeValue } from "./make-value.ts";
import { anySchema } from "./schemas.fixture.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat("date", /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/);
ajv.addFormat("date-time", {
  validate: (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text)),
});
ajv.addFormat("email", /^[^\s@]+@[^\s@]+\.[^\s@]+$/);
ajv.addFormat("uuid", /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
ajv.addFormat("uri", { validate: (text: string) => URL.canParse(text) });

function make(schema: unknown, message = ""): unknown {
  return makeValue(schema, guessHints(message));
}

const messages = fc.oneof(
  fc.constantFrom(
    "",
    "Alice and Bob meet in Paris and New York on 2026-03-04 for 3 hours, 2.5 miles off",
    'Write to ada@example.com about "tea", 7 times 7',
    "use fahrenheit and red",
  ),
  fc.string({ unit: "grapheme" }),
);

test("a value fits its schema for any message", () => {
  fc.assert(
    fc.property(anySchema, messages, (schema, message) => {
      const value = make(schema, message);
      const fits = ajv.validate(schema, value);
      expect(fits, `${JSON.stringify(value)}: ${ajv.errorsText()}`).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

describe("a value is filled from the message", () => {
  const text = { type: "string" };
  test.each<[string, unknown, string, unknown]>([
    [
      "places",
      { properties: { city: text, name: text } },
      "A table in Rome for a guest called Ada",
      { city: "Rome", name: "Ada" },
    ],
    ["quotations", { properties: { title: text } }, 'Add the task "buy milk"', { title: "buy milk" }],
    ["the whole message", { properties: { query: text } }, "Who wrote Faust?", { query: "Who wrote Faust?" }],
    [
      "numbers in order",
      { properties: { from: { type: "integer" }, share: { type: "number", maximum: 1 } } },
      "From 3, share 0.5",
      { from: 3, share: 0.5 },
    ],
    [
      "mentioned choices",
      { properties: { unit: { enum: ["celsius", "fahrenheit"] } } },
      "in Fahrenheit, please",
      { unit: "fahrenheit" },
    ],
    [
      "optional choices only if mentioned",
      { properties: { a: text, unit: { enum: ["kilo_metre", "mile"] } }, required: ["a"] },
      "x kilo metre",
      { a: "x kilo metre", unit: "kilo_metre" },
    ],
    [
      "lists",
      { properties: { people: { type: "array", items: text } } },
      "Alice, Bob and Carol met",
      { people: ["Alice", "Bob", "Carol"] },
    ],
    [
      "dates, addresses and links",
      { properties: { on: { type: "string", format: "date" }, link: text } },
      "On 2026-05-06 see https://example.com/a.",
      { on: "2026-05-06", link: "https://example.com/a" },
    ],
    [
      "refusals",
      { properties: { wifi: { type: "boolean" }, parking: { type: "boolean" } } },
      "a room without wifi",
      { wifi: false, parking: true },
    ],
  ])("with %s", (_, schema, message, value) => {
    expect(make(schema, message)).toEqual(value);
  });
});

describe("a recursive schema", () => {
  const node = {
    type: "object",
    properties: { value: { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
    required: ["value", "next"],
  };
  test("gives a small value if one exists", () => {
    const schema = { $ref: "#/$defs/node", $defs: { node } };
    const value = make(schema);
    expect(ajv.validate(schema, value)).toBe(true);
    expect(JSON.stringify(value).length).toBeLessThan(500);
  });

  test("gives a value of bounded depth if no finite value exists", () => {
    const endless = { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } }, required: ["a", "b"] };
    expect(JSON.stringify(make(endless)).length).toBeLessThan(200_000);
    expect(make({ $ref: "#" })).toBe("text");
    expect(make({ allOf: [{ $ref: "#" }, { $ref: "#" }] })).toBe("text");
  });

  test("is filled quickly even if it is huge", () => {
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    const level = (next: number) => ({
      type: "object",
      required: names,
      properties: Object.fromEntries(names.map((name) => [name, { anyOf: [{ $ref: `#/$defs/l${next}` }] }])),
    });
    const $defs = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`l${index}`, level(index + 1)]));
    const startedMs = performance.now();
    make({ $ref: "#/$defs/l0", $defs });
    make({
      type: "array",
      minItems: 1e9,
      items: { type: "array", minItems: 1e9, items: { type: "string", minLength: 1e9 } },
    });
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });
});

test("a property can have any name, such as __proto__", () => {
  const value = make(
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"null"}},"required":["__proto__","constructor","toString"]}',
    ),
  );
  expect(JSON.stringify(value)).toBe('{"__proto__":1,"constructor":null,"toString":"toString"}');
});
