import type { IncomingMessage } from "node:http";
import type { Contract, OperationRoute } from "../contract.ts";
import type { Faults } from "../faults.ts";
import type { TransportOptions } from "../options.ts";
import { BODY_BYTES_PER_SECOND_MIN, type BodyPatience, hasBody } from "./body-chunks.ts";
import { parseJson } from "./parse-json.ts";
import { type IncomingForm, readForm } from "./read-form.ts";
import { readLines } from "./read-lines.ts";
import { readWhole } from "./read-whole.ts";

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
    return parseJson(chunks, faults);
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
