import type { Schemas } from "./bundle.ts";
import { orderedRequests, validatedNames } from "./validator-names.ts";
import { fieldTableName } from "./validators.ts";

/** Generates validators.d.ts: each validator is a type guard for the type of the same name. */
export function validatorDeclarations(schemas: Schemas): string {
  return [
    'import type * as Schema from "./types.ts";',
    'import type { Validate } from "./readers.js";',
    "",
    'export * from "./readers.js";',
    "",
    "/** The members of a request: the order in which they are checked, those that must be there, and a validator for each. */",
    "export interface RequestFields {",
    "  readonly order: readonly string[];",
    "  readonly required: readonly string[];",
    "  readonly properties: Readonly<Record<string, Validate<unknown>>>;",
    "}",
    "",
    ...orderedRequests(schemas).map((name) => `export declare const ${fieldTableName(name)}: RequestFields;`),
    ...validatedNames(schemas).map((name) => `export declare const validate${name}: Validate<Schema.${name}>;`),
    "",
  ].join("\n");
}

/** Generates readers.d.ts. A reader accepts unknown members, so its guard promises only the known ones. */
export function readerDeclarations(schemas: Schemas): string {
  return [
    'import type * as Schema from "./types.ts";',
    "",
    "/** Why a value was refused; `parentSchema` is the schema that refused it, with its `x-expected` and, for a union, its `x-tags`. */",
    "export interface ValidationError {",
    "  readonly keyword: string;",
    "  readonly instancePath: string;",
    "  readonly schemaPath: string;",
    "  readonly params: Readonly<Record<string, unknown>>;",
    "  readonly message?: string;",
    "  readonly schema?: unknown;",
    "  readonly parentSchema?: unknown;",
    "  readonly data?: unknown;",
    "}",
    "",
    "/** `errors` is that of the latest call: read it at once. */",
    "export interface Validate<T> {",
    "  (value: unknown): value is T;",
    "  readonly errors?: readonly ValidationError[] | null;",
    "}",
    "",
    ...validatedNames(schemas).map((name) => `export declare const read${name}: Validate<Schema.${name}>;`),
    "",
  ].join("\n");
}
