import { readFileSync } from "node:fs";
import { type Parties, readInteractionsOf } from "../pact-files.fixture.ts";
import { recordOf } from "../records.fixture.ts";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** An operation of the published OpenAPI document. */
export interface Operation {
  readonly operationId: string;
  readonly method: string;
  /** The path with its parameters in braces. */
  readonly path: string;
  /** Status and code of every documented error. */
  readonly errors: readonly string[];
  /** The statuses of all documented errors, also of those without a code. */
  readonly errorStatuses: readonly string[];
}

/** The operations of a document of `generated/`. */
export function readOperations(folder: "responses-api" | "chat-completions" | "messages"): readonly Operation[] {
  const document = readJson(new URL(`../../generated/${folder}/openapi.json`, import.meta.url));
  return Object.entries(memberOf(document, "paths")).flatMap(([path, item]) =>
    METHODS.map((method) => ({ method, operation: memberOf(item, method) }))
      .filter(({ operation }) => "operationId" in operation)
      .map(({ method, operation }) => ({
        operationId: String(operation["operationId"]),
        method: method.toUpperCase(),
        path,
        errors: errorsOf(document, operation),
        errorStatuses: Object.keys(memberOf(operation, "responses")).filter((status) => Number(status) >= 400),
      })),
  );
}

/** Reads the error codes from a description: words with underscores, each perhaps followed by its type in brackets. */
function errorsOf(document: Json, operation: Json): string[] {
  return Object.entries(memberOf(operation, "responses")).flatMap(([status, reply]) => {
    const { description } = referredTo(document, reply);
    const codes = String(description)
      .replaceAll(/\(type [a-z_]+\)/g, "")
      .matchAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g);
    return Number(status) < 400 ? [] : [...codes].map(([code]) => `${status} ${code}`);
  });
}

function referredTo(document: Json, reply: unknown): Json {
  const name = recordOf(reply)["$ref"];
  if (typeof name !== "string") return recordOf(reply);
  return memberOf(memberOf(memberOf(document, "components"), "responses"), name.slice(name.lastIndexOf("/") + 1));
}

/** One interaction of a pact. */
export interface WrittenInteraction {
  readonly method: string;
  readonly path: string;
  /** Status and code of the error reply, or null if the reply is not an error. */
  readonly error: string | null;
}

/** Returns the interactions that a consumer writes. */
export function readInteractions(parties: Parties): readonly WrittenInteraction[] {
  return readInteractionsOf(parties).map((interaction) => {
    const { method, path } = memberOf(interaction, "request");
    const reply = memberOf(interaction, "response");
    const error = memberOf(memberOf(memberOf(reply, "body"), "content"), "error");
    const word = error["code"] ?? error["type"];
    const isRefused = Number(reply["status"]) >= 400;
    return {
      method: String(method),
      path: String(path),
      error: isRefused ? `${reply["status"]} ${word}` : null,
    };
  });
}

/** Finds the operation of an interaction. Of several matching paths the one with the fewest parameters wins. */
export function operationOf(
  { method, path }: WrittenInteraction,
  operations: readonly Operation[],
): Operation | undefined {
  return operations
    .filter((operation) => operation.method === method && patternOf(operation.path).test(path))
    .toSorted((one, other) => parametersOf(one.path) - parametersOf(other.path))[0];
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`);
}

function parametersOf(path: string): number {
  return path.split("{").length - 1;
}

type Json = Readonly<Record<string, unknown>>;

function readJson(file: URL): Json {
  return recordOf(JSON.parse(readFileSync(file, "utf8")));
}

function memberOf(holder: unknown, name: string): Json {
  return recordOf(recordOf(holder)[name]);
}
