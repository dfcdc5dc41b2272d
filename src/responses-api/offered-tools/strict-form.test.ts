import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../tests/kit/cpu-time.ts";
import { strictForm } from "./strict-form.ts";

const closed = (properties: object, required = Object.keys(properties)): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const open = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
const text = { type: "string" };

describe("the strict form", () => {
  const cases: Readonly<Record<string, readonly [sent: object, form: object]>> = {
    "of an object closes it and requires every property": [
      open({ location: text, unit: { type: "string", enum: ["c", "f"] } }, { required: ["location"] }),
      closed({ location: text, unit: { type: "string", enum: ["c", "f"] } }),
    ],
    "of a strict schema is the same, with its own order of required": [
      closed({ a: text, b: text }, ["b", "a"]),
      closed({ a: text, b: text }, ["b", "a"]),
    ],
    "of an object without properties is a closed empty object": [open({}), closed({})],
    "reaches into nested objects, lists, alternatives and definitions": [
      open(
        {
          inner: open({ a: text }),
          list: { type: "array", items: open({ b: text }) },
          either: { anyOf: [open({ c: text }), { type: "null" }] },
          ref: { $ref: "#/$defs/d" },
          self: { $ref: "#" },
        },
        { $defs: { d: open({ e: text }) } },
      ),
      {
        ...closed({
          inner: closed({ a: text }),
          list: { type: "array", items: closed({ b: text }) },
          either: { anyOf: [closed({ c: text }), { type: "null" }] },
          ref: { $ref: "#/$defs/d" },
          self: { $ref: "#" },
        }),
        $defs: { d: closed({ e: text }) },
      },
    ],
    "keeps descriptions, defaults, limits and known formats": [
      open({
        n: { type: ["integer", "null"], minimum: 1, default: null, description: "How many" },
        at: { type: "string", format: "date-time", title: "When" },
      }),
      closed({
        n: { type: ["integer", "null"], minimum: 1, default: null, description: "How many" },
        at: { type: "string", format: "date-time", title: "When" },
      }),
    ],
    "keeps a stray strict": [open({ a: text }, { strict: true }), { ...closed({ a: text }), strict: true }],
    "keeps property names that JavaScript objects inherit": [
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}'),
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__","constructor"],"additionalProperties":false}',
      ),
    ],
  };
  test.each(Object.entries(cases))("%s", (_title, [sent, form]) => {
    const before = structuredClone(sent);
    expect(strictForm(sent)).toEqual(form);
    expect(sent).toEqual(before);
  });
});

describe("there is no strict form for", () => {
  const nested = (levels: number): object =>
    Array.from({ length: levels }).reduce<object>((inner) => open({ inner }), text);
  const many = (length: number): object =>
    open(Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, text])));
  const cases: Readonly<Record<string, unknown>> = {
    "an empty schema": {},
    "a schema that is no object": text,
    "an object that may be null": { type: ["object", "null"], properties: {} },
    "an object without properties": { type: "object" },
    "an inner object without properties": open({ any: { type: "object" } }),
    "an empty inner schema": open({ any: {} }),
    "an inner schema that is true": open({ any: true }),
    "properties that are a list": { type: "object", properties: [] },
    "an object with a schema for additional properties": open({}, { additionalProperties: text }),
    "an object that allows additional properties": open({}, { additionalProperties: true }),
    "an object that requires an undefined property": open({ a: text }, { required: ["b"] }),
    "an object whose required is no list": open({ a: text }, { required: true }),
    "a list without items": open({ list: { type: "array" } }),
    "a list with one schema for each place": open({ list: { type: "array", items: [text, text] } }),
    "alternatives at the top": open({}, { anyOf: [closed({})] }),
    "an empty list of alternatives": open({ a: { anyOf: [] } }),
    "a reference to another document": open({ a: { $ref: "https://example.com/a" } }),
    "a reference to a missing definition": open({ a: { $ref: "#/$defs/none" } }),
    "a reference with another keyword beside it": open({ a: { $ref: "#", description: "A" } }),
    "definitions inside an inner schema": open({ a: open({}, { $defs: { b: text } }) }),
    "an unknown type": open({ a: { type: "text" } }),
    "a format that is not enforced": open({ a: { type: "string", format: "uri" } }),
    "more levels of objects than are allowed": nested(11),
    "more properties than are allowed": many(5001),
    "more values than are allowed": open({ a: { type: "string", enum: Array.from({ length: 1001 }, String) } }),
    "longer names than are allowed": open({ ["a".repeat(120_001)]: text }),
    ...Object.fromEntries(
      `allOf oneOf not if then else dependentSchemas patternProperties propertyNames
       uniqueItems minProperties minLength contains prefixItems unevaluatedProperties x-own`
        .split(/\s+/)
        .map((keyword) => [`a schema with ${keyword}`, open({ a: { ...text, [keyword]: 1 } })]),
    ),
  };
  test.each(Object.entries(cases))("%s", (_title, schema) => {
    expect(strictForm(schema)).toBeNull();
  });

  test("the largest allowed schemas have a strict form", () => {
    expect(strictForm(nested(10))).not.toBeNull();
    expect(strictForm(many(5000))).not.toBeNull();
  });
});

test("the time for a strict form grows with the schema, not with its square", async () => {
  const wide = (length: number): object =>
    open(Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, { anyOf: [closed({}), text] }])), {
      required: Array.from({ length }, (_, index) => `p${index}`),
    });
  const msOf = async (schema: object): Promise<number> =>
    (await cpuMsOf(() => Array.from({ length: 20 }, () => strictForm(schema)))).ms;
  await msOf(wide(2000));
  // Of several rounds the least, so that a garbage collection in one of them does not count.
  const ones: number[] = [];
  const twos: number[] = [];
  for (let round = 0; round < 4; round++) {
    ones.push(await msOf(wide(2000)));
    twos.push(await msOf(wide(4000)));
  }
  expect(Math.min(...twos)).toBeLessThan(Math.min(...ones) * 3 + 50);
});
