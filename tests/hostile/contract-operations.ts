import { isRecord } from "../../src/base/records.ts";
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
  /** By status: the name of the schema of its JSON reply, or null where it has none of its own. */
  readonly replies: ReadonlyMap<number, string | null>;
}

export interface Parameter {
  readonly name: string;
  readonly schema: Schema;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

export function contractOperations(): readonly ContractOperation[] {
  const { paths } = contractDocument;
  if (!isRecord(paths)) return [];
  return Object.entries(paths).flatMap(([path, item]) =>
    isRecord(item) ? METHODS.filter((method) => method in item).map((method) => operationOf(path, item, method)) : [],
  );
}

function operationOf(path: string, item: Schema, method: string): ContractOperation {
  const operation = resolved(item[method]);
  const parameters = [...listAt(item, "parameters"), ...listAt(operation, "parameters")].map(resolved);
  return {
    operationId: String(operation["operationId"]),
    method: method.toUpperCase(),
    path,
    query: parameters
      .filter((parameter) => parameter["in"] === "query")
      .map((parameter) => ({ name: String(parameter["name"]), schema: resolved(parameter["schema"]) })),
    body: jsonSchemaOf(resolved(operation["requestBody"])),
    replies: new Map(
      Object.entries(resolved(operation["responses"])).map(([status, reply]) => {
        const schema = jsonSchemaOf(resolved(reply));
        return [Number(status), schema === null ? null : nameOf(schema)];
      }),
    ),
  };
}

function jsonSchemaOf(holder: Schema): Schema | null {
  const schema = resolved(resolved(holder["content"])["application/json"])["schema"];
  return isRecord(schema) ? schema : null;
}

function listAt(holder: Schema, name: string): readonly unknown[] {
  const list = holder[name];
  return Array.isArray(list) ? list : [];
}

/** What a reference points to, or the value itself; schemas keep their names, so only what lies outside of them is followed. */
function resolved(value: unknown): Schema {
  if (!isRecord(value)) return {};
  const reference = value["$ref"];
  if (typeof reference !== "string" || reference.startsWith("#/components/schemas/")) return value;
  let target: unknown = contractDocument;
  for (const part of reference.slice(2).split("/"))
    target = isRecord(target) ? target[part.replaceAll("~1", "/")] : undefined;
  return resolved(target);
}
