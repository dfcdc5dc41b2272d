import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import type { Schemas } from "./bundle.ts";
import { textsAt } from "./json.ts";
import { fieldOrder, orderedRequests, validatedNames } from "./validator-names.ts";
import { CARRIED_ANNOTATIONS, readerSchemas, strictSchemas } from "./validator-schemas.ts";

const ROOT = "contract";

/** validators.js: code that checks what we accept and send, and tables of the members of requests. */
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

/** readers.js: code that checks what another server sent. */
export function readerCode(schemas: Schemas): string {
  return compile(
    readerSchemas(schemas),
    validatedNames(schemas).map((name) => [`read${name}`, pointer(name)]),
  );
}

/**
 * Errors carry the schema that refused (`verbose`), where the words of a message come from. Schemas that are used twice
 * are called, not copied in: half the code. The dialect is draft 7, whose keywords mean the same as the 2020 ones that
 * our schemas use; the 2020 one tracks what we never ask for, at a cost per call.
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
  return withImports(countingLess(standalone.default(ajv, Object.fromEntries(exported))));
}

function pointer(name: string): string {
  return `${ROOT}#/components/schemas/${name}`;
}

/**
 * A limit of length counts characters one by one, which takes long for some megabytes. A character is one or two units
 * of length, so most texts are judged without counting.
 */
function countingLess(code: string): string {
  return code
    .replaceAll(/if\((func\d+)\(([\w.]+)\) > (\d+)\)/g, "if($2.length > 2 * $3 || ($2.length > $3 && $1($2) > $3))")
    .replaceAll(/if\((func\d+)\(([\w.]+)\) < (\d+)\)/g, "if($2.length < 2 * $3 && $1($2) < $3)");
}

/**
 * ajv leaves calls of `require` in its modules. Loaders differ in what they give for the default export of a CommonJS
 * module.
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

/** Members are reached through their table only. */
function withoutExports(code: string, variables: readonly string[]): string {
  return variables.reduce((text, variable) => text.replace(`export const ${variable} =`, `const ${variable} =`), code);
}
