import { isObject, type JsonObject, listAt, objectAt, textAt } from "./json.ts";

/** An operation of an OpenAPI document, with references resolved one level deep. Operations have no deeper ones. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly isExtension: boolean;
  readonly isSecured: boolean;
  readonly parameters: readonly JsonObject[];
  /** Schemas by media type. */
  readonly requestBody: ReadonlyMap<string, JsonObject>;
  readonly bodyRequired: boolean;
  /** True if a JSON body may contain the query parameters. */
  readonly takesQueryInBody: boolean;
  readonly replies: readonly Reply[];
}

export interface Reply {
  readonly status: string;
  readonly content: ReadonlyMap<string, JsonObject>;
}

const METHODS = ["get", "put", "post", "delete", "patch"];

/** Returns all operations. Literal paths come before parameter paths that would match them too. */
export function operationsOf(document: JsonObject): readonly Operation[] {
  const all = Object.entries(objectAt(document, "paths")).flatMap(([path, item]) =>
    isObject(item)
      ? METHODS.filter((method) => isObject(item[method])).map((method) => operationAt(document, path, item, method))
      : [],
  );
  return all.toSorted((a, b) => comparePaths(a.path, b.path) || compareText(a.method, b.method));
}

function operationAt(document: JsonObject, path: string, item: JsonObject, method: string): Operation {
  const operation = objectAt(item, method);
  const body = resolve(document, objectAt(operation, "requestBody"));
  return {
    id: textAt(operation, "operationId") ?? "",
    method,
    path,
    summary: textAt(operation, "summary") ?? "",
    isExtension: operation["x-extension"] === true,
    isSecured: isSecured(document, operation),
    parameters: [...listAt(item, "parameters"), ...listAt(operation, "parameters")]
      .filter(isObject)
      .map((parameter) => resolve(document, parameter)),
    requestBody: contentOf(body),
    bodyRequired: body["required"] === true,
    takesQueryInBody: operation["x-query-in-body"] === true,
    replies: Object.entries(objectAt(operation, "responses")).map(([status, reply]) => ({
      status,
      content: contentOf(isObject(reply) ? resolve(document, reply) : {}),
    })),
  };
}

/** True if an operation needs a key. An empty security requirement means that it does not. */
function isSecured(document: JsonObject, operation: JsonObject): boolean {
  const schemes = operation["security"] === undefined ? listAt(document, "security") : listAt(operation, "security");
  return schemes.length > 0 && schemes.every((scheme) => isObject(scheme) && Object.keys(scheme).length > 0);
}

function contentOf(body: JsonObject): ReadonlyMap<string, JsonObject> {
  return new Map(
    Object.entries(objectAt(body, "content")).map(([media, content]) => [
      media,
      isObject(content) ? objectAt(content, "schema") : {},
    ]),
  );
}

/** Resolves a reference within the document. */
export function resolve(document: JsonObject, object: JsonObject): JsonObject {
  const ref = textAt(object, "$ref");
  if (ref === null) return object;
  const target = ref
    .split("/")
    .slice(1)
    .reduce((at, step) => objectAt(at, step.replaceAll("~1", "/").replaceAll("~0", "~")), document);
  if (Object.keys(target).length === 0) throw new Error(`${ref} points to nothing`);
  return resolve(document, target);
}

/** Compares paths by step: a literal step before a parameter, a shorter path before a longer one. */
function comparePaths(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (const [index, step] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = Number(isParameter(step)) - Number(isParameter(other)) || compareText(step, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function isParameter(step: string): boolean {
  return step.startsWith("{");
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
