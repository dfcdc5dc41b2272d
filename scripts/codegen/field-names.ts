import type { Schemas } from "./bundle.ts";
import { isObject, type JsonObject, listAt, objectAt } from "./json.ts";
import { taggedUnion } from "./tags.ts";
import { refName } from "./ts-type.ts";
import { fieldOrder } from "./validator-names.ts";

/**
 * Generates field-names.ts: the fields of a create request, for the test that compares the field ledger with the
 * contract.
 */
export function fieldNames(schemas: Schemas): string {
  const request = schemas["CreateResponseRequest"] ?? {};
  return [
    listText(
      "createResponseFields",
      "Members of a create request, in the order in which they are checked.",
      fieldOrder(request),
    ),
    listText(
      "createResponseNestedFields",
      "Members of the objects among them, as `text.format`.",
      nestedFields(request, schemas),
    ),
    listText("toolTypes", "Values of `type` of an element of `tools`.", tagsOf("ToolInput", schemas)),
    listText(
      "toolChoiceTypes",
      "Values of `type` of a `tool_choice` that is an object.",
      tagsOf("ToolChoiceObject", schemas),
    ),
    listText("inputItemTypes", "Values of `type` of an element of `input`.", tagsOf("InputItem", schemas)),
    listText(
      "contentPartTypes",
      "Values of `type` of a part of a message that is sent.",
      tagsOf("MessageContentPartInput", schemas),
    ),
  ].join("\n");
}

function listText(name: string, what: string, values: readonly string[]): string {
  return `/** ${what} */\nexport const ${name} = [\n${values.map((value) => `  ${JSON.stringify(value)},\n`).join("")}] as const;\n`;
}

function tagsOf(name: string, schemas: Schemas): readonly string[] {
  const union = taggedUnion(schemas[name] ?? {}, schemas);
  if (union === null) throw new Error(`${name} is not a tagged union`);
  return union.branches.flatMap(({ values }) => values);
}

/** Returns fields one level deep. Deeper fields belong to unions, which are listed by their own names. */
function nestedFields(request: JsonObject, schemas: Schemas): readonly string[] {
  const properties = objectAt(request, "properties");
  return fieldOrder(request).flatMap((name) =>
    branchesOf(objectAt(properties, name), schemas).flatMap((branch) =>
      Object.keys(objectAt(branch, "properties")).map((member) => `${name}.${member}`),
    ),
  );
}

/** Returns the branches of a schema, or of the schema that it refers to. A schema without branches counts as one. */
function branchesOf(schema: JsonObject, schemas: Schemas): readonly JsonObject[] {
  const name = refName(schema);
  const here = name === null ? schema : (schemas[name] ?? {});
  const branches = listAt(here, "anyOf").filter(isObject);
  return branches.length === 0 ? [here] : branches.flatMap((branch) => branchesOf(branch, schemas));
}
