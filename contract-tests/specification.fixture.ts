import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isRecord } from "./records.fixture.ts";

/** Reads a document of `specs/` without resolving its references. */
function readSpecification(name: string): Readonly<Record<string, unknown>> {
  const document: unknown = parse(readFileSync(new URL(`../specs/${name}`, import.meta.url), "utf8"), {
    maxAliasCount: -1,
  });
  if (!isRecord(document)) throw new Error(`${name} is not a document`);
  return document;
}

export interface DeclaredReply {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** Returns every status of every operation of an OpenAPI document. */
export function declaredReplies(name: string): DeclaredReply[] {
  return entriesOf(readSpecification(name)["paths"]).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) =>
      entriesOf(Object(operation).responses).map(([status]) => ({
        operationId: String(Object(operation).operationId),
        method: method.toUpperCase(),
        path,
        status: Number(status),
      })),
    ),
  );
}

export interface DeclaredMessage {
  readonly channel: string;
  /** The type of the message. */
  readonly type: string;
  readonly sender: "client" | "server";
}

/** Returns every message of every operation of an AsyncAPI document. */
export function declaredMessages(name: string): DeclaredMessage[] {
  const document = readSpecification(name);
  const messages: unknown = Object(document["components"]).messages;
  return entriesOf(document["operations"]).flatMap(([, operation]) => {
    const { action, channel, messages: references } = Object(operation);
    return listOf(references).map((reference) => ({
      channel: lastOf(channel),
      type: String(Object(Object(messages)[lastOf(reference)]).name),
      sender: action === "receive" ? ("client" as const) : ("server" as const),
    }));
  });
}

/** Returns the codes of an enumeration in `specs/schemas/stt.yaml`. */
export function declaredCodes(schema: string): string[] {
  const { enum: codes, properties } = Object(readSpecification("schemas/stt.yaml")[schema]);
  return listOf(codes ?? Object(properties).code?.enum).map(String);
}

function lastOf(reference: unknown): string {
  return String(Object(reference).$ref).split("/").at(-1) ?? "";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [name: string, value: unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}
