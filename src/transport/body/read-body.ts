import type { IncomingMessage } from "node:http";
import { isRecord } from "../../base/json/records.ts";
import type { HeldBytes } from "../../base/limits/byte-budget.ts";
import type { Contract, OperationRoute } from "../contract.ts";
import type { Faults } from "../faults.ts";
import type { TransportOptions } from "../options.ts";
import {
  BODY_BYTES_PER_SECOND_MIN,
  type BodyFaults,
  type BodyLimits,
  type BodyPatience,
  decodeBody,
  hasBody,
} from "./body-chunks.ts";
import { parseJsonChunks } from "./parse-json.ts";
import { type IncomingForm, readForm } from "./read-form.ts";
import { readLines } from "./read-lines.ts";

const JSON_TYPE = "application/json";

/**
 * The body in the form its media type gives it: a JSON value, lines, a form's parts, or bytes. Undefined where there is
 * none.
 */
export async function readBody(
  route: OperationRoute,
  incoming: IncomingForm,
  options: TransportOptions,
  faults: Faults,
): Promise<unknown> {
  const { request } = incoming;
  if (route.request.length === 0) return undefined;
  if (!route.bodyRequired && !hasBody(request)) return undefined;
  const patience = patienceOf(options);
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
    case "multipart/form-data":
      return readForm(incoming, { ...patience, fileBytesMax: options.fileBytesMax }, faults);
    default:
      return readWhole(request, options, faults, (chunks) => Buffer.concat(chunks));
  }
}

/** Checks a body as its interface wants it checked, and gives back what the handler shall see. */
export function checkBody(route: OperationRoute, body: unknown, contract: Contract, faults: Faults): unknown {
  const check = contract.bodyChecks?.[route.operationId];
  if (check !== undefined) return check(body);
  const validator = contract.bodyValidators[route.operationId];
  if (validator === undefined || (body === undefined && !route.bodyRequired)) return body;
  if (!validator(body)) throw faults.invalidBody(route.operationId, body, validator.errors ?? []);
  return body;
}

/** The media type the body is read as. A body that does not say is taken for JSON where JSON is possible. */
function acceptedType(
  { request: accepted, operationId }: OperationRoute,
  request: IncomingMessage,
  faults: Faults,
): string {
  const given = request.headers["content-type"] ?? "";
  const [type = "", ...parameters] = given.split(";").map((part) => part.trim().toLowerCase());
  const named = type === "" && accepted.includes(JSON_TYPE) ? JSON_TYPE : type;
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.replaceAll('"', "");
  const isUtf8 = charset === undefined || /^charset=(utf-?8|us-ascii)$/.test(charset);
  if (!accepted.includes(named) || (named === JSON_TYPE && !isUtf8))
    throw faults.unsupportedMediaType(given, operationId);
  return named;
}

async function readJson(
  route: OperationRoute,
  request: IncomingMessage,
  options: TransportOptions,
  faults: Faults,
): Promise<unknown> {
  return readWhole(request, options, faults, (chunks) => {
    if (chunks.every(({ length }) => length === 0) && !route.bodyRequired) return undefined;
    return parseJsonChunks(chunks, faults);
  });
}

function patienceOf({ bodyIdleTimeoutMs, bodyTotalTimeoutMs }: TransportOptions): BodyPatience {
  return {
    idleTimeoutMs: bodyIdleTimeoutMs,
    bytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN,
    totalTimeoutMs: bodyTotalTimeoutMs,
  };
}

function isEncoded({ headers }: IncomingMessage): boolean {
  return (headers["content-encoding"] ?? "identity").trim().toLowerCase() !== "identity";
}

/** More than any set of query parameters needs. */
const QUERY_BYTES_MAX = 64 * 1024;

/**
 * Query parameters that were sent as a JSON body, as a query string. A body of another type, or that is no object, says
 * nothing.
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
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null) query.append(name, textOf(one));
  }
  return query.toString();
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** How long a body may be on its way that stays in memory; forms have the time of the options. */
const WHOLE_BODY_TIMEOUT_MS = 15 * 60_000;

type WholeBodyOptions = Pick<
  TransportOptions,
  "bodyBytesMax" | "bodyIdleTimeoutMs" | "bodyTotalTimeoutMs" | "incoming"
>;

/** Has `read` make something of a body while its bytes count as held. */
async function readWhole<T>(
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
  const held = incoming.open();
  try {
    return await read(await collectBody(request, limits, held, faults));
  } finally {
    held.release();
  }
}

/**
 * The whole body, decompressed, in the chunks in which it came. The limit holds for the bytes on the wire and for those
 * they become; these count as held until whoever gave `held` lets go.
 */
async function collectBody(
  request: IncomingMessage,
  limits: BodyLimits,
  held: HeldBytes,
  faults: BodyFaults,
): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of decodeBody(request, limits, faults)) {
    if (!held.add(chunk.length)) throw faults.noRoomForBody();
    chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  }
  return chunks;
}
