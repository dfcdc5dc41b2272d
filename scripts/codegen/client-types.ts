import { fileMembers } from "./handler-types.ts";
import { type JsonObject, objectAt } from "./json.ts";
import { type Operation, resolve } from "./operations.ts";
import { memberName, parameterName, parametersType, typeOf } from "./ts-type.ts";

/** The TypeScript of a client method: its signatures and the members of its descriptor. */
export interface ClientMethod {
  readonly overloads: readonly string[];
  readonly signature: string;
  readonly request: string;
}

interface Answer {
  readonly accept: string;
  readonly type: string;
}

export function clientMethod(document: JsonObject, operation: Operation): ClientMethod {
  const answers = answersOf(operation);
  const plain = answers[0] ?? { accept: "nothing", type: "undefined" };
  const stream = answers.find(({ accept }) => accept === "events" || accept === "lines");
  const choosesBy = stream === undefined || stream === plain ? null : streamSwitch(document, operation);
  const args = argumentsOf(document, operation);
  const signature = (answer: string, extra: string) =>
    `(${[...args.map((arg) => printed(arg, extra, choosesBy)), "options?: RequestOptions"].join(", ")}): Promise<${answer}>`;
  const either = answers.map(({ type }) => type).join(" | ");
  return {
    overloads:
      choosesBy === null || stream === undefined
        ? []
        : [
            signature(stream.type, "{ readonly stream: true }"),
            signature(plain.type, "{ readonly stream?: false | null }"),
            signature(either, ""),
          ],
    signature: signature(choosesBy === null ? plain.type : either, ""),
    request: requestOf(operation, args, { plain: plain.accept, stream: stream?.accept ?? plain.accept, choosesBy }),
  };
}

/** JSON comes first, because a client that can choose gets events only on request. */
function answersOf({ replies }: Operation): readonly Answer[] {
  const success = replies.filter(({ status }) => status.startsWith("2")).flatMap(({ content }) => [...content]);
  return success
    .map(([media, schema]) => answerOf(media, schema))
    .toSorted((a, b) => Number(b.accept === "json") - Number(a.accept === "json"));
}

function answerOf(media: string, schema: JsonObject): Answer {
  if (media === "application/json") return { accept: "json", type: typeOf(schema) };
  if (media === "text/event-stream") return { accept: "events", type: `EventStream<${typeOf(schema)}>` };
  if (media === "application/x-ndjson") return { accept: "lines", type: `EventStream<${typeOf(schema)}>` };
  return media.startsWith("text/plain") ? { accept: "text", type: "string" } : { accept: "bytes", type: "Uint8Array" };
}

/** Returns whether `stream` is a member of the body or of the query; null if it is of neither. */
function streamSwitch(document: JsonObject, { requestBody, parameters }: Operation): "body" | "query" | null {
  const body = requestBody.get("application/json") ?? requestBody.get("multipart/form-data");
  const properties = body === undefined ? {} : objectAt(resolve(document, body), "properties");
  if (properties["stream"] !== undefined) return "body";
  return parameters.some((parameter) => parameter["in"] === "query") ? "query" : null;
}

interface Argument {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
}

function argumentsOf(document: JsonObject, operation: Operation): readonly Argument[] {
  const steps = operation.parameters.filter((parameter) => parameter["in"] === "path");
  const query = operation.parameters.filter((parameter) => parameter["in"] === "query");
  const needed = query.some((parameter) => parameter["required"] === true);
  return [
    ...steps.map((parameter) => ({ name: camelCase(parameterName(parameter)), type: "string", optional: false })),
    ...bodyArgument(document, operation),
    ...(query.length === 0 ? [] : [{ name: "query", type: parametersType(query), optional: !needed }]),
  ];
}

function bodyArgument(document: JsonObject, { requestBody, bodyRequired }: Operation): readonly Argument[] {
  const [first] = requestBody;
  if (first === undefined) return [];
  const [media, schema] = first;
  const type = typeOf(schema);
  const sent =
    media === "application/x-ndjson"
      ? `AsyncIterable<${type}>`
      : media === "multipart/form-data"
        ? `UploadForm<${type}, ${fileMembers(document, schema)}>`
        : type;
  return [{ name: "body", type: sent, optional: !bodyRequired }];
}

/**
 * Prints an argument. An overload narrows the argument that holds `stream` and requires it if `stream` must be true.
 */
function printed({ name, type, optional }: Argument, extra: string, choosesBy: string | null): string {
  const narrowed = extra !== "" && name === choosesBy;
  const mayBeAbsent = optional && !(narrowed && extra.includes("true"));
  return `${name}${mayBeAbsent ? "?" : ""}: ${narrowed ? `${type} & ${extra}` : type}`;
}

interface Accepted {
  readonly plain: string;
  readonly stream: string;
  /** The argument that holds `stream`, or null if the client cannot choose. */
  readonly choosesBy: string | null;
}

function requestOf(operation: Operation, args: readonly Argument[], { plain, stream, choosesBy }: Accepted): string {
  const path = operation.path.replaceAll(
    /\{([^}]+)\}/g,
    (_, name: string) => `\${encodeURIComponent(${camelCase(name)})}`,
  );
  const has = (name: string) => args.some((arg) => arg.name === name);
  const members = [
    `operationId: ${JSON.stringify(operation.id)}`,
    `method: ${JSON.stringify(operation.method.toUpperCase())}`,
    `path: ${path.includes("$") ? `\`${path}\`` : JSON.stringify(path)}`,
    has("query") ? "query: query ?? {}" : "query: {}",
    ...(has("body") ? [`bodyKind: ${JSON.stringify(bodyKind(operation))}`, "body"] : []),
    choosesBy === null
      ? `accept: ${JSON.stringify(plain)}`
      : `accept: ${choosesBy}${isOptional(args, choosesBy) ? "?" : ""}.stream === true ? "${stream}" : "${plain}"`,
  ];
  return `{ ${members.join(", ")} }`;
}

function isOptional(args: readonly Argument[], name: string): boolean {
  return args.some((arg) => arg.name === name && arg.optional);
}

function bodyKind({ requestBody }: Operation): string {
  if (requestBody.has("application/x-ndjson")) return "lines";
  return requestBody.has("multipart/form-data") ? "form" : "json";
}

function camelCase(name: string): string {
  return memberName(name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
}
