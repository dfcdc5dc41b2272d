import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../tests/cpu-time.ts";
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
    "of what is strict already is the same, with its own order of required": [
      closed({ a: text, b: text }, ["b", "a"]),
      closed({ a: text, b: text }, ["b", "a"]),
    ],
    "of an object without properties is one that stays empty": [open({}), closed({})],
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
    "takes names that objects have of themselves": [
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

describe("no strict form has", () => {
  const nested = (levels: number): object =>
    Array.from({ length: levels }).reduce<object>((inner) => open({ inner }), text);
  const many = (length: number): object =>
    open(Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, text])));
  const cases: Readonly<Record<string, unknown>> = {
    "an empty schema": {},
    "what is no object": text,
    "an object that may be null": { type: ["object", "null"], properties: {} },
    "an object of which nothing is known": { type: "object" },
    "an inner object of which nothing is known": open({ any: { type: "object" } }),
    "an inner schema that says nothing": open({ any: {} }),
    "an inner schema that is true": open({ any: true }),
    "properties that are no object": { type: "object", properties: [] },
    "an object with further properties of a type": open({}, { additionalProperties: text }),
    "an object that is open on purpose": open({}, { additionalProperties: true }),
    "an object that requires what it lacks": open({ a: text }, { required: ["b"] }),
    "an object whose required is no list": open({ a: text }, { required: true }),
    "a list of anything": open({ list: { type: "array" } }),
    "a list of places": open({ list: { type: "array", items: [text, text] } }),
    "alternatives at the top": open({}, { anyOf: [closed({})] }),
    "no alternatives": open({ a: { anyOf: [] } }),
    "a reference elsewhere": open({ a: { $ref: "https://example.com/a" } }),
    "a reference to nothing": open({ a: { $ref: "#/$defs/none" } }),
    "a reference with a neighbour": open({ a: { $ref: "#", description: "A" } }),
    "definitions inside": open({ a: open({}, { $defs: { b: text } }) }),
    "a type that is none": open({ a: { type: "text" } }),
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

  test("the largest that is allowed is not among them", () => {
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
  const [one, two] = [await msOf(wide(2000)), await msOf(wide(4000))];
  expect(two).toBeLessThan(one * 3 + 50);
});
