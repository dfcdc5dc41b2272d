import { readFileSync } from "node:fs";
import { isRecord } from "@antiphon/base/json/records.ts";
import { fieldLedger, type LedgerEntry } from "@antiphon/contracts/responses-api/field-ledger.ts";
import {
  contentPartTypes,
  createResponseFields,
  createResponseNestedFields,
  inputItemTypes,
  toolChoiceTypes,
  toolTypes,
} from "@antiphon/contracts/responses-api/field-names.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";

const LISTED = Object.keys(fieldLedger);

/** Members whose values are listed separately, and their values. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  include: enumeration("Include"),
  truncation: enumeration("Truncation"),
  tool_choice: [...toolChoiceTypes, "none", "auto", "required"],
  tools: toolTypes,
  "tools.tool_search": ["client", "server"],
  input: inputItemTypes,
  content: [...contentPartTypes, "computer_screenshot", "encrypted_content", "reasoning_text", "summary_text"],
  "text.format": ["text", "json_object", "json_schema"],
  "reasoning.mode": ["standard", "pro"],
  "moderation.policy": ["score", "block"],
  "image.context_compression": ["auto", "disabled", "enabled"],
  "reasoning.context": enumeration("ReasoningContext"),
};

/** Every path that must be in the ledger. */
const REQUIRED: readonly string[] = [
  ...createResponseFields,
  ...Object.entries(VALUES).flatMap(([path, values]) => values.map((value) => `${path}.${value}`)),
];

describe("the field ledger", () => {
  test("covers every member and value of the contract", () => {
    verifies("create.ledger.every-field-listed");
    expect(REQUIRED.filter((path) => !LISTED.includes(path))).toEqual([]);
  });

  test("covers every nested member, or refuses the whole", () => {
    const isListed = (path: string): boolean =>
      LISTED.some((listed) => listed === path || listed.startsWith(`${path}.`));
    const isRefused = (path: string): boolean => isRefusedByAll(fieldLedger[path.split(".")[0] ?? ""]);
    expect(createResponseNestedFields.filter((path) => !isListed(path) && !isRefused(path))).toEqual([]);
  });

  test("lists nothing that the contract does not have", () => {
    const known = new Set([...REQUIRED, ...createResponseNestedFields, ...partMembers()]);
    expect(LISTED.filter((path) => !known.has(path))).toEqual([]);
  });

  test("names either the server or every engine, and explains partial support in a note", () => {
    for (const [path, { server, note, ...engines }] of Object.entries(fieldLedger)) {
      expect(Object.keys(engines).toSorted(), path).toEqual(
        server === undefined ? ["built-in", "chat-completions", "messages", "responses"] : [],
      );
      const treatments = new Set([server, ...Object.values(engines)]);
      if (treatments.has("emulated") || treatments.has("refused")) expect(note, path).toMatch(/^\S[^\n]*$/);
    }
  });
});

function isRefusedByAll(entry: LedgerEntry | undefined): boolean {
  if (entry === undefined) return false;
  return entry.server === "refused" || (entry["built-in"] === "refused" && entry["chat-completions"] === "refused");
}

/** The members of each type of part, such as `content.input_image.detail`. */
function partMembers(): string[] {
  return Object.values(schemas()).flatMap((schema) => {
    const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
    const type = isRecord(properties["type"]) ? properties["type"]["const"] : null;
    return Object.keys(properties).map((name) => `content.${type}.${name}`);
  });
}

function enumeration(name: string): readonly string[] {
  const schema = schemas()[name];
  const values = isRecord(schema) ? schema["enum"] : null;
  if (!Array.isArray(values)) throw new Error(`${name} is no enumeration of the contract`);
  return values.map(String);
}

function schemas(): Record<string, unknown> {
  const file = new URL("../../generated/responses-api/openapi.json", import.meta.url);
  const document: unknown = JSON.parse(readFileSync(file, "utf8"));
  const components = isRecord(document) ? document["components"] : null;
  const found = isRecord(components) ? components["schemas"] : null;
  if (!isRecord(found)) throw new Error("the contract has no schemas");
  return found;
}
