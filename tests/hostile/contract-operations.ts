import { isRecord } from "@antiphon/base/json/records.ts";
import { contractDocument, nameOf, type Schema } from "./contract-schema.ts";

/** One operation of the published contract. */
export interface ContractOperation {
  readonly operationId: string;
  /** Upper case. */
  readonly method: string;
  /** The path with its parameters in braces. */
  readonly path: string;
  readonly query: readonly Parameter[];
  /** The schema of the JSON body; null if there is none. */
  readonly body: Schema | null;
  /** Media types of the body; empty if there is none. */
  readonly bodyTypes: readonly string[];
  /** The documented sample of the JSON body; undefined if there is none. */
  readonly example: unknown;
  /** For each status, the name of the reply's JSON schema, or null if it has no schema of its own. */
  readonly replies: ReadonlyMap<number, string | null>;
}

export interface Parameter {
  readonly name: string;
  readonly schema: Schema;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

export function contractOperations(document: Schema = contractDocument): readonly ContractOperation[] {
  const { paths } = document;
  if (!isRecord(paths)) return [];
  const follow = followerOf(document);
  return Object.entries(paths).flatMap(([path, item]) =>
    isRecord(item)
      ? METHODS.filter((method) => method in item).map((method) => operationOf(path, item, method, follow))
      : [],
  );
}

/**
 * Follows a reference, or returns the value itself. References to schemas keep their names, so only others are
 * followed.
 */
type Follow = (value: unknown) => Schema;

function operationOf(path: string, item: Schema, method: string, follow: Follow): ContractOperation {
  const operation = follow(item[method]);
  const parameters = [...listAt(item, "parameters"), ...listAt(operation, "parameters")].map(follow);
  const bodies = follow(follow(operation["requestBody"])["content"]);
  return {
    operationId: String(operation["operationId"]),
    method: method.toUpperCase(),
    path,
    query: parameters
      .filter((parameter) => parameter["in"] === "query")
      .map((parameter) => ({ name: String(parameter["name"]), schema: follow(parameter["schema"]) })),
    body: jsonSchemaOf(follow(operation["requestBody"]), follow),
    bodyTypes: Object.keys(bodies),
    example: follow(bodies["application/json"])["example"],
    replies: new Map(
      Object.entries(follow(operation["responses"])).map(([status, reply]) => {
        const schema = jsonSchemaOf(follow(reply), follow);
        return [Number(status), schema === null ? null : nameOf(schema)];
      }),
    ),
  };
}

function jsonSchemaOf(holder: Schema, follow: Follow): Schema | null {
  const schema = follow(follow(holder["content"])["application/json"])["schema"];
  return isRecord(schema) ? schema : null;
}

function listAt(holder: Schema, name: string): readonly unknown[] {
  const list = holder[name];
  return Array.isArray(list) ? list : [];
}

function followerOf(document: Schema): Follow {
  const follow = (value: unknown): Schema => {
    if (!isRecord(value)) return {};
    const reference = value["$ref"];
    if (typeof reference !== "string" || reference.startsWith("#/components/schemas/")) return value;
    let target: unknown = document;
    for (const part of reference.slice(2).split("/"))
      target = isRecord(target) ? target[part.replaceAll("~1", "/")] : undefined;
    return follow(target);
  };
  return follow;
}
