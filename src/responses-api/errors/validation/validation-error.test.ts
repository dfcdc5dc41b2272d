import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { validationError } from "./validation-error.ts";

const ajv = new Ajv2020({ strict: false, verbose: true, discriminator: true });

/** The code, param and message of the error for `value`, checked against `schema` at the path `root`. */
function refusal(schema: object, value: unknown, root: string): string {
  const validate = ajv.compile(schema);
  expect(validate(value)).toBe(false);
  const { code, param, message } = validationError(validate.errors ?? [], root);
  return `${code} ${param}: ${message}`;
}

const nullable = (schema: object, words?: string): object => ({
  anyOf: [schema, { type: "null" }],
  ...(words === undefined ? {} : { "x-expected": words }),
});

test("a wrong type names the expected type and the type that was sent", () => {
  verifies("errors.catalogue.wrong-type", "validation.words.expected-types");
  expect(refusal({ type: "boolean" }, 1, "stream")).toBe(
    "invalid_type stream: Invalid type for 'stream': expected a boolean, but got an integer instead.",
  );
  expect(refusal({ type: ["number", "null"] }, "hot", "temperature")).toBe(
    "invalid_type temperature: Invalid type for 'temperature': expected a decimal, but got a string instead.",
  );
  expect(refusal(nullable({ type: "object" }, "a metadata object"), [], "metadata")).toBe(
    "invalid_type metadata: Invalid type for 'metadata': expected a metadata object, but got an array instead.",
  );
});

test("a value outside an enumeration lists the supported ones", () => {
  verifies("errors.catalogue.value-outside-enum");
  expect(refusal(nullable({ enum: ["low", "medium", "high"] }), "huge", "text.verbosity")).toBe(
    "invalid_value text.verbosity: Invalid value: 'huge'. Supported values are: 'low', 'medium', and 'high'.",
  );
  expect(refusal(nullable({ enum: ["auto", "disabled"] }, "one of 'auto' or 'disabled'"), 5, "truncation")).toBe(
    "invalid_type truncation: Invalid type for 'truncation': expected one of 'auto' or 'disabled', but got an integer instead.",
  );
});

test("a number outside its limits names the limit", () => {
  verifies("errors.catalogue.integer-bounds", "errors.catalogue.decimal-bounds");
  expect(refusal({ type: ["integer", "null"], minimum: 16 }, 0, "max_output_tokens")).toBe(
    "integer_below_min_value max_output_tokens: Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 0 instead.",
  );
  expect(refusal({ type: ["number", "null"], minimum: 0 }, -1, "temperature")).toBe(
    "decimal_below_min_value temperature: Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  );
});

test("errors for too many properties and too long strings give the limit and the size", () => {
  verifies("errors.catalogue.metadata-pairs", "errors.catalogue.string-too-long");
  const metadata = nullable(
    { type: "object", maxProperties: 1, additionalProperties: { type: "string", maxLength: 3 } },
    "a metadata object",
  );
  expect(refusal(metadata, { a: "1", b: "2" }, "metadata")).toBe(
    "object_above_max_properties metadata: Invalid 'metadata': too many properties. Expected an object with at most 1 properties, but got an object with 2 properties instead.",
  );
  expect(refusal(metadata, { a: "1234" }, "metadata")).toBe(
    "string_above_max_length metadata.a: Invalid 'metadata.a': string too long. Expected a string with maximum length 3, but got a string with length 4 instead.",
  );
});

const tagged = {
  type: "array",
  items: {
    type: "object",
    required: ["type"],
    discriminator: { propertyName: "type" },
    "x-tags": ["a", "b"],
    oneOf: [
      {
        properties: { type: { const: "a" }, x: { type: "string" } },
        required: ["type", "x"],
        additionalProperties: false,
      },
      { properties: { type: { const: "b" } }, required: ["type"], additionalProperties: false },
    ],
  },
};

test("an unknown tag is named by its path; in an input item, the path of the item is named", () => {
  verifies("validation.items.unknown-type-param");
  expect(refusal(tagged, [{ type: "c" }], "tools")).toBe(
    "invalid_value tools[0].type: Invalid value: 'c'. Supported values are: 'a' and 'b'.",
  );
  expect(refusal(tagged, [{ type: "c" }], "input")).toBe(
    "invalid_value input[0]: Invalid value: 'c'. Supported values are: 'a' and 'b'.",
  );
  expect(refusal(tagged, [{ type: 7 }], "input")).toBe(
    "invalid_value input[0]: Invalid value: ''. Supported values are: 'a' and 'b'.",
  );
});

test("missing and unknown members are named by their full path", () => {
  verifies("errors.catalogue.missing-nested-member", "errors.catalogue.no-nested-spelling-hint");
  expect(refusal(tagged, [{}], "tools")).toBe(
    "missing_required_parameter tools[0].type: Missing required parameter: 'tools[0].type'.",
  );
  expect(refusal(tagged, [{ type: "a" }], "tools")).toBe(
    "missing_required_parameter tools[0].x: Missing required parameter: 'tools[0].x'.",
  );
  expect(refusal(tagged, [{ type: "b", y: 1 }], "tools")).toBe(
    "unknown_parameter tools[0].y: Unknown parameter: 'tools[0].y'.",
  );
});
