import { readFileSync } from "node:fs";
import { isRecord } from "@antiphon/base/json/records.ts";

/** The places of ids in one operation. */
export interface IdOperation {
  readonly operationId: string;
  readonly method: string;
  /** As in the contract: `/v1/files/{file_id}`. */
  readonly path: string;
  readonly pathIds: readonly string[];
  /** `after` and `before`. */
  readonly cursors: readonly string[];
  /** `Schema.member` of every member of the body whose name looks like an id. */
  readonly bodyMembers: readonly string[];
  readonly bodyTypes: readonly string[];
}

const CONTRACT = new URL("../../generated/responses-api/openapi.json", import.meta.url);
/** Path parameters that do not name an owner's things. */
const SHARED_NAMES: ReadonlySet<string> = new Set(["model", "version"]);
/** The parameter `file_id` of these paths is no uploaded file. */
const CONTAINER_FILES = "/v1/containers/{container_id}/files/{file_id}";
/** Operators see everything below it, and others nothing: `tests/organization/` shows that. */
const OPERATORS = "/v1/organization/";
const CURSORS: ReadonlySet<string> = new Set(["after", "before"]);
const NAMING_MEMBER = /(^|_)ids?$|^conversation$/;

type Json = Readonly<Record<string, unknown>>;

/** Every operation of the contract that takes an id anywhere. */
export function readIdOperations(): readonly IdOperation[] {
  const contract = recordOf(JSON.parse(readFileSync(CONTRACT, "utf8")));
  const paths = Object.entries(recordOf(contract["paths"])).filter(([path]) => !path.startsWith(OPERATORS));
  const found = paths.flatMap(([path, shared]) =>
    Object.entries(recordOf(shared))
      .filter(([, operation]) => isRecord(operation) && "operationId" in operation)
      .map(([method, operation]) =>
        readOperation(contract, { path, method, shared: recordOf(shared), operation: recordOf(operation) }),
      ),
  );
  return found.filter(({ pathIds, cursors, bodyMembers }) => pathIds.length + cursors.length + bodyMembers.length > 0);
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly shared: Json;
  readonly operation: Json;
}

function readOperation(contract: Json, { path, method, shared, operation }: Place): IdOperation {
  const parameters = [...listOf(shared["parameters"]), ...listOf(operation["parameters"])].map((each) =>
    resolved(contract, each),
  );
  const named = (place: string): readonly string[] =>
    parameters.filter((parameter) => parameter["in"] === place).map(({ name }) => String(name));
  const content = recordOf(recordOf(operation["requestBody"])["content"]);
  const members = new Set<string>();
  for (const media of Object.values(content)) {
    collectMembers(contract, recordOf(media)["schema"], {
      owner: String(operation["operationId"]),
      members,
      seen: new Set(),
    });
  }
  return {
    operationId: String(operation["operationId"]),
    method: method.toUpperCase(),
    path: withOwnName(path),
    pathIds: [...withOwnName(path).matchAll(/\{(\w+)\}/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !SHARED_NAMES.has(name)),
    cursors: named("query").filter((name) => CURSORS.has(name)),
    bodyMembers: [...members].toSorted(),
    bodyTypes: Object.keys(content),
  };
}

/** The path with `container_file_id` for the files of containers. */
function withOwnName(path: string): string {
  return path.replace(CONTAINER_FILES, CONTAINER_FILES.replace("{file_id}", "{container_file_id}"));
}

interface Collecting {
  readonly owner: string;
  readonly members: Set<string>;
  readonly seen: Set<string>;
}

function collectMembers(contract: Json, schema: unknown, collecting: Collecting): void {
  if (!isRecord(schema)) return;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    if (collecting.seen.has(reference)) return;
    collecting.seen.add(reference);
    const owner = reference.split("/").at(-1) ?? "";
    return collectMembers(contract, resolved(contract, schema), { ...collecting, owner });
  }
  const within = ["oneOf", "anyOf", "allOf"].flatMap((word) => listOf(schema[word]));
  for (const part of [...within, schema["items"], schema["additionalProperties"]])
    collectMembers(contract, part, collecting);
  for (const [name, member] of Object.entries(recordOf(schema["properties"]))) {
    if (NAMING_MEMBER.test(name)) collecting.members.add(`${collecting.owner}.${name}`);
    collectMembers(contract, member, collecting);
  }
}

function resolved(contract: Json, value: unknown): Json {
  const record = recordOf(value);
  const reference = record["$ref"];
  if (typeof reference !== "string") return record;
  const found = reference
    .split("/")
    .slice(1)
    .reduce<unknown>((place, name) => recordOf(place)[name], contract);
  return resolved(contract, found);
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
