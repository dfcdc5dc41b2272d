import { type JsonObject, objectAt } from "./json.ts";
import { type Operation, type Reply, resolve } from "./operations.ts";
import { parameterName, parametersType, refName, typeOf } from "./ts-type.ts";

/** The TypeScript types of a handler's request and replies. */
export interface HandlerTypes {
  readonly path: string;
  readonly query: string;
  readonly headers: string;
  readonly body: string;
  readonly replies: readonly string[];
}

export function handlerTypes(document: JsonObject, operation: Operation): HandlerTypes {
  const inPlace = (place: string) => operation.parameters.filter((parameter) => parameter["in"] === place);
  return {
    path: parametersType(inPlace("path")),
    query: parametersType(inPlace("query").map(withPlainName)),
    headers: parametersType(inPlace("header").map(lowerCased)),
    body: bodyType(document, operation),
    replies: replyTypes(operation.replies),
  };
}

/** Renames `include[]` on the wire to `include` in code. */
function withPlainName(parameter: JsonObject): JsonObject {
  return { ...parameter, name: parameterName(parameter).replace(/\[\]$/, "") };
}

/** Lower-cases the name, because Node reports header names in lower case. */
function lowerCased(parameter: JsonObject): JsonObject {
  return { ...parameter, name: parameterName(parameter).toLowerCase() };
}

function bodyType(document: JsonObject, { requestBody, bodyRequired }: Operation): string {
  const types = [...requestBody].map(([media, schema]) => {
    if (media === "application/x-ndjson") return `AsyncIterable<${typeOf(schema)}>`;
    if (media === "multipart/form-data") return `FormWith<${typeOf(schema)}, ${fileMembers(document, schema)}>`;
    return media === "application/json" ? typeOf(schema) : "Uint8Array";
  });
  if (types.length === 0 || !bodyRequired) types.push("undefined");
  return types.join(" | ");
}

/** Returns the names of a form's files as a union type. */
export function fileMembers(document: JsonObject, schema: JsonObject): string {
  const properties = objectAt(resolve(document, schema), "properties");
  const files = Object.keys(properties).filter((name) => {
    const member = objectAt(properties, name);
    return member["format"] === "binary" || objectAt(member, "items")["format"] === "binary";
  });
  return files.length === 0 ? "never" : files.map((name) => JSON.stringify(name)).join(" | ");
}

/** Prints one type per media type. Statuses with the same reply share a type. */
function replyTypes(replies: readonly Reply[]): readonly string[] {
  const statuses = new Map<string, string[]>();
  for (const { status, content } of replies) {
    const kinds =
      content.size === 0 ? ["EmptyReply<#>"] : [...content].map(([media, schema]) => replyKind(media, schema));
    for (const kind of kinds) statuses.set(kind, [...(statuses.get(kind) ?? []), status]);
  }
  return [...statuses].map(([kind, codes]) => kind.replace("#", codes.join(" | ")));
}

function replyKind(media: string, schema: JsonObject): string {
  if (media === "application/json") return `BodyReply<#, ${named(schema)}>`;
  if (media === "text/event-stream") return `EventsReply<#, ${named(schema)}>`;
  if (media === "application/x-ndjson") return `LinesReply<#, ${named(schema)}>`;
  return media.startsWith("text/plain") ? "TextReply<#>" : "BytesReply<#>";
}

/**
 * Returns the name of a JSON reply's schema. Throws if it has none, because validators exist for named schemas only.
 */
function named(schema: JsonObject): string {
  if (refName(schema) === null && schema["type"] !== "object")
    throw new Error(`a reply needs a named schema: ${JSON.stringify(schema)}`);
  return typeOf(schema);
}
