import { parse } from "yaml";
import { isRecord, recordOf } from "../records.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** Texts by their paths below `specs/`. */
export type SpecFiles = ReadonlyMap<string, string>;

/** All that `specs/` says of the wire, as one document whose references need no other. */
export interface Specs {
  readonly document: Json;
  /** OpenAPI and AsyncAPI documents, by the interface that they describe. */
  readonly descriptions: readonly Description[];
}

export interface Description {
  readonly interfaceName: string;
  readonly file: string;
  readonly json: Json;
}

/** What is ours alone counts for our clients like everything else. */
const LEFT_OUT = "x-extension";

export function readSpecs(files: SpecFiles): Specs {
  const parsed = [...files]
    .filter(([path]) => path.includes("/") && path.endsWith(".yaml"))
    .map(([path, text]): [string, Json] => [keyOf(path), recordOf(withOwnReferences(parse(text), path))]);
  const descriptions = parsed.filter(([, json]) => "openapi" in json || "asyncapi" in json);
  return {
    document: Object.fromEntries(parsed),
    descriptions: descriptions.map(([file, json]) => ({ interfaceName: file.split(":")[0] ?? file, file, json })),
  };
}

/**
 * The same, with objects that may have more members than are listed: what readers make of it, who ignore what they do
 * not know.
 */
export function openObjects(json: Json): Json {
  return recordOf(withOpenObjects(json));
}

/** References point by their first step to a file, and a step holds no slash. */
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
