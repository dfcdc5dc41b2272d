import { isObject, type Json, type JsonObject, objectAt, textsAt } from "./json.ts";
import { type Operation, resolve } from "./operations.ts";
import { parameterName, refName } from "./ts-type.ts";

/** Returns what a server needs to read an operation's requests. The generated `OperationRoute` has the same members. */
export function routeOf(document: JsonObject, operation: Operation): JsonObject {
  const inPlace = (place: string) => operation.parameters.filter((parameter) => parameter["in"] === place);
  return {
    operationId: operation.id,
    method: operation.method,
    path: operation.path.replaceAll(/\{([^}]+)\}/g, ":$1"),
    summary: operation.summary,
    extension: operation.isExtension,
    secured: operation.isSecured,
    query: Object.fromEntries(
      inPlace("query").map((parameter) => [plainName(parameter), queryParameter(document, parameter)]),
    ),
    headers: inPlace("header").map((parameter) => plainName(parameter).toLowerCase()),
    request: [...operation.requestBody.keys()],
    bodyRequired: operation.bodyRequired,
    ...(operation.takesQueryInBody ? { queryInBody: true } : {}),
    bodySchema: bodySchema(operation),
    replies: Object.fromEntries(operation.replies.map(({ status, content }) => [status, [...content.keys()]])),
    replySchema: replySchema(operation, "application/json"),
    eventSchema: replySchema(operation, "text/event-stream"),
    lineSchema: replySchema(operation, "application/x-ndjson"),
  };
}

function plainName(parameter: JsonObject): string {
  return parameterName(parameter).replace(/\[\]$/, "");
}

const LIMITS = ["minimum", "maximum", "minLength", "maxLength", "pattern", "maxItems", "default"];

/**
 * Describes a query parameter. Its limits come from the schema of the value, or of a list's elements. Lists also accept
 * the name `name[]`, which the reference's clients send.
 */
function queryParameter(document: JsonObject, parameter: JsonObject): JsonObject {
  const written = objectAt(parameter, "schema");
  // Members beside a $ref, such as a default, override it.
  const schema = { ...resolve(document, written), ...written };
  const isArray = kindOf(schema) === "array";
  const value = isArray ? resolve(document, objectAt(schema, "items")) : schema;
  const values = Array.isArray(value["enum"]) ? { enum: value["enum"].filter((one) => one !== null) } : {};
  const limits = LIMITS.flatMap((name): [string, Json][] => {
    const limit = schema[name] ?? value[name];
    return limit === undefined ? [] : [[name, limit]];
  });
  return {
    kind: kindOf(value),
    array: isArray,
    required: parameter["required"] === true,
    aliases: [
      ...new Set([...textsAt(parameter, "x-query-aliases"), ...(isArray ? [`${plainName(parameter)}[]`] : [])]),
    ],
    ...values,
    ...Object.fromEntries(limits),
  };
}

const KINDS = ["string", "integer", "number", "boolean", "array", "object"];

function kindOf(schema: JsonObject): string {
  const types = typeof schema["type"] === "string" ? [schema["type"]] : textsAt(schema, "type");
  return types.find((type) => KINDS.includes(type)) ?? "string";
}

function bodySchema({ requestBody }: Operation): string | null {
  return [...requestBody.values()].map(refName).find((name) => name !== null) ?? null;
}

function replySchema({ replies }: Operation, media: string): string | null {
  const success = replies.filter(({ status }) => status.startsWith("2"));
  return success.map(({ content }) => refName(content.get(media))).find((name) => name !== null) ?? null;
}

/** Returns a line `name: value,` for each member, for a template. */
export function literalLines(object: JsonObject): readonly string[] {
  return Object.entries(object).map(([name, value]) => `${name}: ${literal(value)},`);
}

function literal(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}: ${literal(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
