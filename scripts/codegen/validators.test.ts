import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repository } from "./contracts.ts";
import { strictSchemas } from "./validator-schemas.ts";
import { readerCode, validatorCode } from "./validators.ts";

const schemas = {
  Text: {
    type: "object",
    description: "Some words.",
    additionalProperties: false,
    required: ["type", "text"],
    "x-reader-required": ["type"],
    properties: { type: { const: "text" }, text: { type: "string", maxLength: 3 } },
  },
  Link: {
    type: "object",
    additionalProperties: false,
    required: ["id"],
    properties: {
      type: { type: ["string", "null"], enum: ["link", null] },
      id: { type: "string", "x-expected": "an id" },
    },
  },
  Part: {
    oneOf: [{ $ref: "#/components/schemas/Text" }, { $ref: "#/components/schemas/Link" }],
    "x-default-tag": "text",
  },
  Request: {
    type: "object",
    "x-validation-order": ["part"],
    properties: { size: { type: "integer" }, part: { $ref: "#/components/schemas/Part" } },
  },
};

interface Validator {
  (value: unknown): boolean;
  errors?: readonly { keyword: string; instancePath: string; parentSchema: Record<string, unknown> }[] | null;
}

let folder = "";
let made: Record<string, Validator> & { requestFields?: { order: string[]; properties: Record<string, Validator> } } =
  {};

beforeAll(async () => {
  mkdirSync(join(repository, "build"), { recursive: true });
  // Inside the repository, so that the code can import ajv's helpers.
  folder = mkdtempSync(join(repository, "build/validators-"));
  writeFileSync(join(folder, "validators.mjs"), validatorCode(schemas).replace("./readers.js", "./readers.mjs"));
  writeFileSync(join(folder, "readers.mjs"), readerCode(schemas));
  made = await import(join(folder, "validators.mjs"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Checks the validator's result: null, or the keyword and the path of its first error. */
function check(name: string, value: unknown, expected: string | null): void {
  const validator = made[name];
  const refusal = validator?.(value) === true ? null : validator?.errors?.[0];
  expect(refusal == null ? refusal : `${refusal.keyword} ${refusal.instancePath}`).toBe(expected);
}

test("the tag selects the branch of a union, and the default does if the tag is missing", () => {
  check("validatePart", { type: "text", text: "abc" }, null);
  check("validatePart", { type: "link", id: "a" }, null);
  check("validatePart", { text: "abc" }, "required "); // Checked against Text, which requires its tag.
  check("validatePart", { type: null, id: "a" }, "required ");
  check("validatePart", { type: "nope" }, "discriminator ");
  expect(made["validatePart"]?.errors?.[0]?.parentSchema["x-tags"]).toEqual(["text", "link"]);
});

test("validators refuse unknown members and values beyond a limit", () => {
  check("validateText", { type: "text", text: "abcd" }, "maxLength /text");
  check("validateText", { type: "text", text: "a", more: 1 }, "additionalProperties ");
});

test("a limit counts characters, which take one or two units of length", () => {
  check("validateText", { type: "text", text: "😀😀😀" }, null);
  check("validateText", { type: "text", text: "😀😀😀a" }, "maxLength /text");
  check("validateText", { type: "text", text: "😀😀😀😀" }, "maxLength /text");
  check("validateText", { type: "text", text: "abcdefgh" }, "maxLength /text");
});

test("an error includes the expected type's description", () => {
  check("validatePart", { type: "link", id: 1 }, "type /id");
  expect(made["validatePart"]?.errors?.[0]?.parentSchema["x-expected"]).toBe("an id");
});

test("a reader ignores unknown members and requires only those of x-reader-required", () => {
  check("readText", { type: "text", more: 1 }, null);
  check("readText", { text: "a" }, "required ");
});

test("the members of a request are checked one by one, in the specified order", () => {
  const { requestFields } = made;
  expect(requestFields?.order).toEqual(["part", "size"]);
  expect(requestFields?.properties["size"]?.(1.5)).toBe(false);
});

test("code generation refuses an unsupported keyword", () => {
  expect(() => strictSchemas({ Odd: { type: "array", contains: { type: "string" } } })).toThrow("contains");
});
