import type { ClientRequest, RequestOptions } from "@antiphon/contracts/responses-api/client.ts";
import type { CallWatch } from "./call-watch.ts";
import { type Connection, urlOf } from "./connection.ts";
import { isRecord, plainText, textAt } from "./json-members.ts";
import { isAsyncIterable, writeLines } from "./line-stream.ts";
import { writeQuery } from "./write-query.ts";

const KEY_BYTES = 16;

const MEDIA_TYPES: Readonly<Record<ClientRequest["accept"], string>> = {
  json: "application/json",
  events: "text/event-stream",
  lines: "application/x-ndjson",
  text: "text/plain",
  bytes: "*/*",
  nothing: "*/*",
};

/** A request ready to be sent, once for each attempt. */
export interface WrittenRequest {
  readonly url: string;
  /** False if its body can be read only once. */
  readonly isRepeatable: boolean;
  readonly toInit: (watch: CallWatch) => RequestInit;
}

export function writeRequest(connection: Connection, request: ClientRequest, options: RequestOptions): WrittenRequest {
  const isRepeatable = request.bodyKind !== "lines";
  const headers = new Headers(connection.headers);
  if (!headers.has("accept")) headers.set("accept", MEDIA_TYPES[request.accept]);
  const body = writeBody(request, headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  if (request.method === "POST" && isRepeatable && !headers.has("idempotency-key"))
    headers.set("idempotency-key", makeKey());
  return {
    url: urlOf(connection.baseUrl, request.path) + writeQuery(request.query),
    isRepeatable,
    toInit: (watch) => ({ method: request.method, headers, signal: watch.signal, ...body(watch) }),
  };
}

type BodyWriter = (watch: CallWatch) => RequestInit & { readonly duplex?: "half" };

/** Makes a body for each attempt, and sets its content type unless fetch does. */
function writeBody({ bodyKind, body }: ClientRequest, headers: Headers): BodyWriter {
  if (bodyKind === undefined || body === undefined) return () => ({});
  if (bodyKind === "form") {
    const form = writeForm(body);
    return () => ({ body: form });
  }
  headers.set("content-type", MEDIA_TYPES[bodyKind]);
  if (bodyKind === "lines") return (watch) => ({ body: writeLines(messagesOf(body), watch), duplex: "half" });
  const text = JSON.stringify(body);
  return () => ({ body: text });
}

function messagesOf(body: unknown): AsyncIterable<unknown> {
  if (!isAsyncIterable(body)) throw new TypeError("The messages to send must be an async iterable.");
  return body;
}

/** A random idempotency key, which all attempts of a call share. `randomUUID` is missing in pages without TLS. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `antiphon-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const DEFAULT_FILENAME = "upload";

/** A form with one part for each member. Members of objects are named `name[member]`, elements of lists `name[]`. */
function writeForm(body: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(isRecord(body) ? body : {})) appendPart(form, name, value);
  return form;
}

function appendPart(form: FormData, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (value instanceof Blob) return form.append(name, value, fileName(value));
  if (Array.isArray(value)) {
    for (const member of value) appendPart(form, `${name}[]`, member);
    return;
  }
  if (!isRecord(value)) return form.append(name, plainText(value));
  if (value["bytes"] instanceof Uint8Array) {
    const blob = new Blob([copyBytes(value["bytes"])], {
      type: textAt(value, "mimeType") ?? "application/octet-stream",
    });
    return form.append(name, blob, textAt(value, "filename") ?? DEFAULT_FILENAME);
  }
  for (const [member, inner] of Object.entries(value)) appendPart(form, `${name}[${member}]`, inner);
}

/** Copies the bytes, because blobs do not accept memory that is shared between threads. */
function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function fileName(blob: Blob): string {
  return "name" in blob && typeof blob.name === "string" ? blob.name : DEFAULT_FILENAME;
}
