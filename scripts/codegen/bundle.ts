import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { repository } from "./contracts.ts";
import { isObject, type Json, type JsonObject, mapObjects, objectAt } from "./json.ts";

/** A document without external references, and the schemas that it uses. */
export interface Bundle {
  readonly document: JsonObject;
  readonly found: ReadonlyMap<string, FoundSchema>;
}

export type Schemas = Readonly<Record<string, JsonObject>>;

interface FoundSchema {
  readonly file: string;
  readonly place: number;
  readonly schema: JsonObject;
}

/** Reads a document and the schemas that it refers to. References to them become `#/components/schemas/<Name>`. */
export function bundle(specFile: string): Bundle {
  const found = new Map<string, FoundSchema>();
  return { document: localRefs(readYaml(specFile), specFile, found), found };
}

/** Returns the schemas that these documents use. */
export function reachedSchemas(...bundles: readonly Bundle[]): Schemas {
  return inFileOrder(new Map(bundles.flatMap(({ found }) => [...found])));
}

/** Returns all schemas of every file that an interface's documents refer to, including unions that only code uses. */
export function allSchemas(bundles: readonly Bundle[]): Schemas {
  const found = new Map<string, FoundSchema>();
  const files = new Set(bundles.flatMap((one) => [...one.found.values()].map(({ file }) => file)));
  for (const file of files) {
    for (const name of Object.keys(schemaFile(file))) collect(file, name, found, file);
  }
  return inFileOrder(found);
}

/** Sorts schemas as in their files, so that a new reference does not reorder the output. */
function inFileOrder(found: ReadonlyMap<string, FoundSchema>): Schemas {
  const ordered = [...found].toSorted(([, a], [, b]) => a.place - b.place);
  return Object.fromEntries(ordered.map(([name, { schema }]) => [name, schema]));
}

/** Returns the document with `schemas` added to its components. */
export function withSchemas(document: JsonObject, schemas: Schemas): JsonObject {
  const components = objectAt(document, "components");
  return { ...document, components: { ...components, schemas: { ...schemas, ...objectAt(components, "schemas") } } };
}

export function readYaml(file: string): JsonObject {
  const document: Json = parse(readFileSync(join(repository, file), "utf8"), { maxAliasCount: -1 });
  if (!isObject(document)) throw new Error(`${file} is not a YAML mapping`);
  return document;
}

function localRefs(document: JsonObject, file: string, found: Map<string, FoundSchema>): JsonObject {
  const local = mapObjects(document, (object) => {
    const ref = object["$ref"];
    if (typeof ref !== "string") return object;
    const name = collectTarget(ref, file, found);
    return name === null ? object : { ...object, $ref: `#/components/schemas/${name}` };
  });
  return isObject(local) ? local : document;
}

/**
 * Collects the schema that `ref` names and all that it uses, and returns its name. Returns null for a reference within
 * the same document.
 */
function collectTarget(ref: string, file: string, found: Map<string, FoundSchema>): string | null {
  const [path = "", pointer = ""] = ref.split("#");
  const target = path === "" ? file : join(dirname(file), path);
  if (basename(dirname(target)) !== "schemas") {
    if (path !== "") throw new Error(`${ref} in ${file}: references may only lead to files in specs/schemas`);
    return null;
  }
  collect(target, pointer.slice(1), found, `${ref} in ${file}`);
  return pointer.slice(1);
}

function collect(file: string, name: string, found: Map<string, FoundSchema>, where: string): void {
  const known = found.get(name);
  if (known !== undefined && known.file !== file)
    throw new Error(`${name} is in ${known.file} and in ${file}; schema names must be unique`);
  if (known !== undefined) return;
  const source = schemaFile(file);
  const schema = source[name];
  if (!isObject(schema)) throw new Error(`there is no schema at ${where}`);
  const place = SCHEMA_FILES.indexOf(basename(file)) * 10_000 + Object.keys(source).indexOf(name);
  // Stored before its own references are followed, because they may lead back here.
  found.set(name, { file, place, schema });
  found.set(name, { file, place, schema: localRefs(schema, file, found) });
}

const SCHEMA_FILES = [
  "common.yaml",
  "content.yaml",
  "items.yaml",
  "tools.yaml",
  "responses.yaml",
  "events.yaml",
  "conversations.yaml",
  "files.yaml",
  "containers.yaml",
  "skills.yaml",
  "batches.yaml",
  "webhooks.yaml",
  "inspection.yaml",
  "organization.yaml",
  "models.yaml",
  "chat.yaml",
  "messages.yaml",
  "stt.yaml",
  "realtime.yaml",
];

const schemaFiles = new Map<string, JsonObject>();

function schemaFile(file: string): JsonObject {
  const source = schemaFiles.get(file) ?? readYaml(file);
  schemaFiles.set(file, source);
  return source;
}
