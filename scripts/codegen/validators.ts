import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { Schemas } from "./bundle.ts";
import { textsAt } from "./json.ts";
import { fieldOrder, orderedRequests, validatedNames } from "./validator-names.ts";
import { CARRIED_ANNOTATIONS, readerSchemas, strictSchemas } from "./validator-schemas.ts";

const ROOT = "contract";

/** Generates validators.js: code that checks what we accept and send, and tables of the members of requests. */
export function validatorCode(schemas: Schemas): string {
  const whole = validatedNames(schemas).map((name): [string, string] => [`validate${name}`, pointer(name)]);
  const members = orderedRequests(schemas).flatMap((name) => memberPointers(name, schemas));
  const code = compile(strictSchemas(schemas), [
    ...whole,
    ...members.map(({ variable, at }): [string, string] => [variable, at]),
  ]);
  const tables = orderedRequests(schemas).map((name) => fieldTable(name, schemas));
  return [
    withoutExports(
      code,
      members.map(({ variable }) => variable),
    ),
    ...tables,
    'export * from "./readers.js";\n',
  ].join("\n");
}

/** Generates readers.js: code that checks what another server sent. */
export function readerCode(schemas: Schemas): string {
  return compile(
    readerSchemas(schemas),
    validatedNames(schemas).map((name) => [`read${name}`, pointer(name)]),
  );
}

/**
 * Compiles the schemas. `verbose` errors include the failed schema, which the error messages need. Schemas used twice
 * become functions, which halves the code. Draft 7 has every keyword that we use; draft 2020 would track evaluated
 * members at a cost per call.
 */
function compile(schemas: Schemas, exported: readonly (readonly [string, string])[]): string {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    discriminator: true,
    verbose: true,
    inlineRefs: false,
    code: { source: true, esm: true, lines: true },
  });
  ajv.addVocabulary(["components", ...CARRIED_ANNOTATIONS]);
  ajv.addSchema({ $id: ROOT, components: { schemas } });
  return withImports(withLengthShortcuts(standalone.default(ajv, Object.fromEntries(exported))));
}

function pointer(name: string): string {
  return `${ROOT}#/components/schemas/${name}`;
}

/**
 * Compares a text's length in UTF-16 units first, because counting characters is slow for megabytes of text. A
 * character is one or two units, so most texts need no counting.
 */
function withLengthShortcuts(code: string): string {
  return code
    .replaceAll(/if\((func\d+)\(([\w.]+)\) > (\d+)\)/g, "if($2.length > 2 * $3 || ($2.length > $3 && $1($2) > $3))")
    .replaceAll(/if\((func\d+)\(([\w.]+)\) < (\d+)\)/g, "if($2.length < 2 * $3 && $1($2) < $3)");
}

/**
 * Replaces ajv's `require` calls by imports. Loaders differ in how they expose the default export of a CommonJS module.
 */
function withImports(code: string): string {
  const variables = new Map<string, string>();
  const body = code.replace('"use strict";\n', "").replaceAll(/require\("([^"]+)"\)\.default/g, (_, module: string) => {
    const variable = variables.get(module) ?? `runtime${variables.size}`;
    variables.set(module, variable);
    return `${variable}.default ?? ${variable}`;
  });
  const imports = [...variables].map(
    ([module, variable]) => `import ${variable} from ${JSON.stringify(`${module}.js`)};\n`,
  );
  return imports.join("") + body;
}

interface MemberPointer {
  readonly member: string;
  readonly variable: string;
  readonly at: string;
}

function memberPointers(name: string, schemas: Schemas): readonly MemberPointer[] {
  return fieldOrder(schemas[name] ?? {}).map((member) => ({
    member,
    variable: `member_of_${name}_${member}`,
    at: `${pointer(name)}/properties/${member}`,
  }));
}

function fieldTable(name: string, schemas: Schemas): string {
  const members = memberPointers(name, schemas);
  return [
    `export const ${fieldTableName(name)} = {`,
    `  order: ${JSON.stringify(members.map(({ member }) => member))},`,
    `  required: ${JSON.stringify(textsAt(schemas[name] ?? {}, "x-required-in-order"))},`,
    "  properties: {",
    ...members.map(({ member, variable }) => `    ${JSON.stringify(member)}: ${variable},`),
    "  },",
    "};",
  ].join("\n");
}

export function fieldTableName(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}Fields`;
}

/** Removes the exports of member validators, which are used only through their table. */
function withoutExports(code: string, variables: readonly string[]): string {
  return variables.reduce((text, variable) => text.replace(`export const ${variable} =`, `const ${variable} =`), code);
}
