import fc from "fast-check";

type Schema = Record<string, unknown>;

const integers = fc.integer({ min: -1000, max: 1000 });
const spans = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 30 }));

const strings = fc.oneof(
  fc.constant<Schema>({ type: "string" }),
  spans.map(([minLength, more]): Schema => ({ type: "string", minLength, maxLength: minLength + more })),
  fc.constantFrom("date", "date-time", "email", "uuid", "uri").map((format): Schema => ({ type: "string", format })),
  fc
    .constantFrom("^[A-Z]{3}-\\d+$", "^(?:red|blue)$", "^[^ ]{2,5}$", "^\\w+(?:\\.\\w+)*$")
    .map((pattern): Schema => ({ type: "string", pattern })),
);

/** Each range is built around an allowed value, so that every schema has a valid value. */
const numbers = fc
  .record({
    at: integers,
    below: fc.nat(50),
    above: fc.nat(50),
    step: fc.constantFrom(null, 1, 2, 5, 0.5, 0.25),
    type: fc.constantFrom("number", "integer"),
    open: fc.boolean(),
  })
  .map(({ at, below, above, step, type, open }): Schema => {
    const allowed = at * Math.max(step ?? 1, type === "integer" ? 1 : 0);
    const low = open ? { exclusiveMinimum: allowed - below - 0.5 } : { minimum: allowed - below };
    const high = open ? { exclusiveMaximum: allowed + above + 0.5 } : { maximum: allowed + above };
    return { type, ...low, ...high, ...(step === null ? {} : { multipleOf: step }) };
  });
const openNumbers = fc.record({ type: fc.constantFrom("number", "integer") }).map((schema): Schema => schema);
const fractions = fc.constant<Schema>({ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 });

const scalars = fc.oneof(
  strings,
  numbers,
  openNumbers,
  fractions,
  fc.constantFrom<Schema>(
    { type: "boolean" },
    { type: "null" },
    {},
    { type: ["string", "null"] },
    { const: 7 },
    { const: null },
  ),
  fc
    .uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.boolean()), { minLength: 1, maxLength: 5 })
    .map((values): Schema => ({ enum: values })),
);

const names = fc.uniqueArray(
  fc.constantFrom("city", "name", "email", "query", "date", "a", "b", "items", "$odd name"),
  { maxLength: 5 },
);
const elements = fc
  .oneof(strings, openNumbers)
  .filter((schema) => schema["pattern"] !== "^(?:red|blue)$" && schema["maxLength"] === undefined);

/** Schemas of the kinds that clients send. Each has a valid value. */
export const anySchema: fc.Arbitrary<Schema> = fc
  .letrec<{ any: Schema; array: Schema; object: Schema; choice: Schema }>((tie) => ({
    any: fc.oneof({ maxDepth: 5, depthSize: "small" }, scalars, tie("object"), tie("array"), tie("choice")),
    array: fc.oneof(
      fc
        .tuple(tie("any"), fc.nat(4), fc.nat(4))
        .map(([items, minItems, more]): Schema => ({ type: "array", items, minItems, maxItems: minItems + more })),
      fc
        .tuple(elements, fc.nat(6))
        .map(([items, minItems]): Schema => ({ type: "array", items, minItems, uniqueItems: true })),
      fc
        .array(tie("any"), { minLength: 1, maxLength: 3 })
        .map((prefixItems): Schema => ({ type: "array", prefixItems, items: false })),
    ),
    object: fc.tuple(names, fc.array(tie("any"), { minLength: 5, maxLength: 5 }), fc.nat(5), fc.nat(2)).map(
      ([keys, schemas, required, more]): Schema => ({
        type: "object",
        properties: Object.fromEntries(keys.map((key, index) => [key, schemas[index]])),
        required: keys.slice(0, required),
        minProperties: Math.min(required + more, keys.length),
        additionalProperties: false,
      }),
    ),
    choice: fc.oneof(
      fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((anyOf): Schema => ({ anyOf })),
      tie("any").map((schema): Schema => ({ anyOf: [{ type: "null" }, schema] })),
      fc.tuple(tie("any"), tie("any")).map(
        ([one, other]): Schema => ({
          oneOf: [one, other].map((value, index) => ({
            type: "object",
            properties: { kind: { const: `kind${index}` }, value },
            required: ["kind", "value"],
          })),
        }),
      ),
      fc.tuple(tie("object"), strings).map(
        ([object, value]): Schema => ({
          allOf: [
            { ...object, additionalProperties: true },
            { type: "object", properties: { more: value }, required: ["more"] },
          ],
        }),
      ),
    ),
  }))
  .any.chain((schema) =>
    fc.constantFrom<Schema>(
      schema,
      { $ref: "#/$defs/thing", $defs: { thing: schema } },
      {
        type: "object",
        properties: { list: { type: "array", items: { $ref: "#/$defs/a~1b" } } },
        required: ["list"],
        $defs: { "a/b": schema },
      },
    ),
  );
