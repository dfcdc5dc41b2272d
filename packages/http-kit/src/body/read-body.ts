import type { IncomingMessage } from "node:http";
import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { type HeldBytes, SMALL_BYTES } from "@antiphon/base/limits/byte-budget.ts";
import type { Contract, OperationRoute } from "../contract.ts";
import type { Faults } from "../faults.ts";
import type { TransportOptions } from "../options.ts";
import {
  BODY_BYTES_PER_SECOND_MIN,
  type BodyFaults,
  type BodyLimits,
  type BodyTimeouts,
  decodeBody,
  hasBody,
  promptBody,
} from "./body-chunks.ts";
import { parseJsonChunks } from "./parse-json.ts";
import { type IncomingForm, readForm } from "./read-form.ts";
import { readLines } from "./read-lines.ts";

const JSON_TYPE = "application/json";
const FORM_TYPE = "multipart/form-data";

export function takesForms({ request }: OperationRoute): boolean {
  return request.includes(FORM_TYPE);
}

/** A body that has not been read yet, and the spool for its files; null if the operation takes no forms. */
export interface IncomingBody extends Pick<IncomingForm, "request"> {
  readonly spool: IncomingForm["spool"] | null;
}

/** Reads the body by its media type: a JSON value, lines, a form's parts, or bytes. Undefined if there is none. */
export function readBody(
  route: OperationRoute,
  { request, spool }: IncomingBody,
  options: TransportOptions,
  faults: Faults,
): unknown {
  if (route.request.length === 0) return undefined;
  if (!route.bodyRequired && !hasBody(request)) return undefined;
  switch (acceptedType(route, request, faults)) {
    case JSON_TYPE:
      return readJson(route, request, options, faults);
    case "application/x-ndjson":
      if (isEncoded(request)) throw faults.unsupportedEncoding(request.headers["content-encoding"] ?? "");
      return readLines(
        request,
        { lineBytesMax: options.messageBytesMax, idleTimeoutMs: options.linesIdleTimeoutMs },
        faults,
      );
    case FORM_TYPE:
      assert(spool !== null, "an operation that takes forms has a spool");
      return readForm({ request, spool }, { ...timeoutsOf(options), fileBytesMax: options.fileBytesMax }, faults);
    default:
      return readWhole(request, options, faults, (chunks) => Buffer.concat(chunks));
  }
}

/** Checks a body as its interface defines, and returns the body for the handler. */
export function checkBody(route: OperationRoute, body: unknown, contract: Contract, faults: Faults): unknown {
  const check = contract.bodyChecks?.[route.operationId];
  if (check !== undefined) return check(body);
  const validator = contract.bodyValidators[route.operationId];
  if (validator === undefined || (body === undefined && !route.bodyRequired)) return body;
  if (!validator(body)) throw faults.invalidBody(route.operationId, body, validator.errors ?? []);
  return body;
}

/** The media type to read the body as. A body without a type is read as JSON if the operation takes JSON. */
function acceptedType(
  { request: acceptedTypes, operationId }: OperationRoute,
  request: IncomingMessage,
  faults: Faults,
): string {
  const header = request.headers["content-type"] ?? "";
  if (header === JSON_TYPE && acceptedTypes.includes(JSON_TYPE)) return JSON_TYPE;
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim().toLowerCase());
  const mediaType = type === "" && acceptedTypes.includes(JSON_TYPE) ? JSON_TYPE : type;
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.replaceAll('"', "");
  const isUtf8 = charset === undefined || /^charset=(utf-?8|us-ascii)$/.test(charset);
  if (!acceptedTypes.includes(mediaType) || (mediaType === JSON_TYPE && !isUtf8))
    throw faults.unsupportedMediaType(header, operationId);
  return mediaType;
}

function readJson(route: OperationRoute, request: IncomingMessage, options: TransportOptions, faults: Faults): unknown {
  return readWhole(request, options, faults, (chunks) => {
    if (chunks.every(({ length }) => length === 0) && !route.bodyRequired) return undefined;
    return parseJsonChunks(chunks, faults);
  });
}

function timeoutsOf({ bodyIdleTimeoutMs, bodyTotalTimeoutMs }: TransportOptions): BodyTimeouts {
  return {
    idleTimeoutMs: bodyIdleTimeoutMs,
    bytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN,
    totalTimeoutMs: bodyTotalTimeoutMs,
  };
}

function isEncoded({ headers }: IncomingMessage): boolean {
  return (headers["content-encoding"] ?? "identity").trim().toLowerCase() !== "identity";
}

/** Bytes of JSON; more than any set of query parameters needs. */
const QUERY_BYTES_MAX = 64 * 1024;

/**
 * Turns query parameters that were sent as a JSON body into a query string. Returns an empty string if the body is not
 * JSON or not an object.
 */
export async function readBodyQuery(
  request: IncomingMessage,
  options: TransportOptions,
  faults: Faults,
): Promise<string> {
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) return "";
  const members = await readWhole(request, { ...options, bodyBytesMax: QUERY_BYTES_MAX }, faults, (chunks) =>
    parseJsonChunks(chunks, faults),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(isRecord(members) ? members : {})) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null) query.append(name, parameterText(one));
  }
  return query.toString();
}

function parameterText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** How long receiving a body into memory may take; for forms, `bodyTotalTimeoutMs` applies. */
const WHOLE_BODY_TIMEOUT_MS = 15 * 60_000;

type WholeBodyOptions = Pick<
  TransportOptions,
  "bodyBytesMax" | "bodyIdleTimeoutMs" | "bodyTotalTimeoutMs" | "incoming"
>;

/** Passes the whole body to `read`. */
async function readWhole<T>(
  request: IncomingMessage,
  options: WholeBodyOptions,
  faults: Faults,
  read: (chunks: readonly Buffer[]) => T | Promise<T>,
): Promise<T> {
  const prompt = await promptBody(request, Math.min(SMALL_BYTES, options.bodyBytesMax));
  return prompt === null ? awaitWhole(request, options, faults, read) : read([prompt]);
}

/** Passes the whole body to `read`. Its bytes count towards the budget `incoming` until `read` has finished. */
async function awaitWhole<T>(
  request: IncomingMessage,
  { bodyBytesMax, bodyIdleTimeoutMs, bodyTotalTimeoutMs, incoming }: WholeBodyOptions,
  faults: Faults,
  read: (chunks: readonly Buffer[]) => T | Promise<T>,
): Promise<T> {
  const limits = {
    bytesMax: bodyBytesMax,
    idleTimeoutMs: bodyIdleTimeoutMs,
    bytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN,
    totalTimeoutMs: Math.min(bodyTotalTimeoutMs, WHOLE_BODY_TIMEOUT_MS),
  };
  const heldBytes = incoming.open();
  try {
    return await read(await collectBody(request, limits, heldBytes, faults));
  } finally {
    heldBytes.release();
  }
}

/**
 * The whole decompressed body, in the chunks in which it arrived. They stay counted in `heldBytes` until the caller
 * releases it.
 */
async function collectBody(
  request: IncomingMessage,
  limits: BodyLimits,
  heldBytes: HeldBytes,
  faults: BodyFaults,
): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of decodeBody(request, limits, faults)) {
    if (!heldBytes.add(chunk.length)) throw faults.noRoomForBody();
    chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  }
  return chunks;
}
