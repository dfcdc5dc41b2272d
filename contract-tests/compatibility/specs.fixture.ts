import { parse } from "yaml";
import { isRecord, recordOf } from "../records.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** File texts by path relative to `specs/`. */
export type SpecFiles = ReadonlyMap<string, string>;

/** All of `specs/` as one document without external references. */
export interface Specs {
  readonly document: Json;
  /** OpenAPI and AsyncAPI documents, each with the interface that it describes. */
  readonly descriptions: readonly Description[];
}

export interface Description {
  readonly interfaceName: string;
  readonly file: string;
  readonly json: Json;
}

/** Removed from the documents, so that our extensions are compared like everything else. */
const LEFT_OUT = "x-extension";

export function readSpecs(files: SpecFiles): Specs {
  const parsed = [...files]
    .filter(([path]) => path.includes("/") && path.endsWith(".yaml"))
    .map(([path, text]): [string, Json] => [
      keyOf(path),
      recordOf(withOwnReferences(parse(text, { maxAliasCount: -1 }), path)),
    ]);
  const descriptions = parsed.filter(([, json]) => "openapi" in json || "asyncapi" in json);
  return {
    document: Object.fromEntries(parsed),
    descriptions: descriptions.map(([file, json]) => ({ interfaceName: file.split(":")[0] ?? file, file, json })),
  };
}

/** Returns a copy in which objects may have unlisted members, because readers ignore them. */
export function openObjects(json: Json): Json {
  return recordOf(withOpenObjects(json));
}

/** The first step of a reference names the file, and a step cannot contain a slash. */
function keyOf(path: string): string {
  return path.replaceAll("/", ":");
}

function withOwnReferences(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((element) => withOwnReferences(element, path));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([name]) => name !== LEFT_OUT);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      name === "$ref" && typeof member === "string" ? ownReference(member, path) : withOwnReferences(member, path),
    ]),
  );
}

function ownReference(target: string, path: string): string {
  const [file = "", pointer = ""] = target.split("#");
  const whole = file === "" ? path : new URL(file, `file:///${path}`).pathname.slice(1);
  return `#/${keyOf(whole)}${pointer}`;
}

function withOpenObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOpenObjects);
  if (!isRecord(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withOpenObjects(member)]));
  const isClosed = isRecord(value["properties"]) && !isRecord(value["additionalProperties"]);
  return isClosed ? { ...copy, additionalProperties: true } : copy;
}
