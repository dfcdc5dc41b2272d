import { isRecord } from "../../src/base/json/records.ts";
import { contractDocument, nameOf, type Schema } from "./contract-schema.ts";

/** One operation as the published contract describes it. */
export interface ContractOperation {
  readonly operationId: string;
  /** Upper case. */
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly query: readonly Parameter[];
  /** The schema of its JSON body; null where it takes none. */
  readonly body: Schema | null;
  /** Media types of its body; none where it takes none. */
  readonly bodyTypes: readonly string[];
  /** What the documentation shows as its JSON body; undefined where it shows none. */
  readonly example: unknown;
  /** By status: the name of the schema of its JSON reply, or null where it has none of its own. */
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
 * What a reference points to, or the value itself; schemas keep their names, so only what lies outside of them is
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
