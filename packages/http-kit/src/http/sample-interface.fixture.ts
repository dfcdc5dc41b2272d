import { connect, type Socket } from "node:net";
import { ApiError } from "@antiphon/base/api-error.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { onTestFinished } from "vitest";
import type { OperationRoute, Validator } from "../contract.ts";
import type { Faults } from "../faults.ts";
import type { Handler, HandlerTable } from "../handler.ts";
import { type ApplicationOptions, createApplication } from "./application.ts";
import { type ListenOptions, listen, type RunningServer } from "./server.ts";

const plain = { secured: false, query: {}, headers: [], request: [], bodyRequired: false };
const thing = { ...plain, path: "/v1/things/:thing_id" };

/** A small interface with one operation of each kind. */
export const sampleRoutes: readonly OperationRoute[] = [
  {
    ...plain,
    operationId: "createThing",
    method: "post",
    path: "/v1/things",
    secured: true,
    request: ["application/json"],
    bodyRequired: true,
  },
  {
    ...thing,
    operationId: "getThing",
    method: "get",
    headers: ["x-colour"],
    query: {
      stream: { kind: "boolean", array: false, required: false, aliases: [] },
      include: { kind: "string", array: true, required: false, aliases: ["include[]"] },
      limit: { kind: "integer", array: false, required: false, aliases: [], minimum: 1, maximum: 100, default: 20 },
    },
  },
  {
    ...thing,
    operationId: "pokeThing",
    method: "post",
    path: "/v1/things/:thing_id/poke",
    request: ["application/json"],
  },
  { ...thing, operationId: "deleteThing", method: "delete" },
  { ...plain, operationId: "getSpecialThing", method: "get", path: "/v1/things/special" },
  {
    ...plain,
    operationId: "talk",
    method: "post",
    path: "/v1/talk",
    request: ["application/x-ndjson"],
    bodyRequired: true,
  },
  {
    ...plain,
    operationId: "upload",
    method: "post",
    path: "/v1/upload",
    request: ["multipart/form-data"],
    bodyRequired: true,
  },
];

function fault(status: number, code: string, message = code, headers: Record<string, string> = {}): ApiError {
  return new ApiError({ status, type: "sample_error", code, message, headers });
}

function errorEvent(
  code: string | null,
  last: object | null,
): { readonly type: string; readonly code: string | null; readonly last: object | null } {
  return { type: "error", code, last };
}

export const sampleFaults: Faults = {
  renderError: ({ code, message, param }) => ({ error: { code, message, param } }),
  streamError: ({ code }, last) => [errorEvent(code, last)],
  invalidJson: () => fault(400, "invalid_json"),
  bodyTooLarge: (bytesMax) => fault(413, "body_too_large", `at most ${bytesMax} bytes`),
  messageTooLarge: (bytesMax) => fault(413, "message_too_large", `at most ${bytesMax} bytes`),
  bodyPackedTooTightly: (ratioMax) => fault(413, "packed_too_tightly", `at most ${ratioMax} times its size`),
  noRoomForBody: () => fault(503, "no_room_for_body"),
  fileTooLarge: (bytesMax) => fault(413, "body_too_large", `at most ${bytesMax} bytes`),
  bodyTimedOut: () => fault(408, "body_timed_out"),
  unsupportedMediaType: (given) => fault(415, "unsupported_media_type", given),
  unsupportedEncoding: (given) => fault(415, "unsupported_encoding", given),
  invalidForm: (reason, part) => fault(400, "invalid_form", `${part}: ${reason}`),
  invalidBody: (_id, _body, refusals) => fault(400, "invalid_body", refusals[0]?.instancePath ?? ""),
  invalidQuery: ({ name, rule }) => fault(400, "invalid_query", `${name}: ${rule}`),
  invalidClientRequestId: () => fault(400, "invalid_client_request_id"),
  malformedRequest: (status) => fault(status, "malformed_request"),
  unknownRoute: (method, path) => fault(404, "unknown_route", `${method} ${path}`),
  methodNotAllowed: (method, path, allow) => fault(405, "method_not_allowed", `${method} ${path}`, { Allow: allow }),
  upgradeRequired: (path) => fault(426, "upgrade_required", path),
  binaryMessage: () => fault(415, "binary_message"),
  shuttingDown: () => fault(503, "shutting_down"),
  internalError: () => fault(500, "internal_error"),
};

export function notImplemented(operationId: string): ApiError {
  return fault(501, "not_implemented", operationId);
}

/** Refuses bodies whose `name` is not a string. */
export const namedThing: Validator = (value) => {
  const isNamed = typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
  namedThing.errors = isNamed ? null : [{ keyword: "type", instancePath: "/name", params: {} }];
  return isNamed;
};

export interface LogLine {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export interface Sample extends RunningServer {
  readonly port: number;
  readonly log: readonly LogLine[];
}

export type SampleChoices = Partial<Omit<ApplicationOptions<string | null>, "handlers">> & {
  readonly handlers?: HandlerTable<string | null>;
  readonly listen?: Partial<ListenOptions>;
};

/** Serves the sample interface on a free port until the test ends. Operations without a handler answer 204. */
export async function startSample(choices: SampleChoices = {}): Promise<Sample> {
  const log: LogLine[] = [];
  const empty: Handler<string | null> = () => Promise.resolve({ status: 204 });
  const defaults = Object.fromEntries(sampleRoutes.map(({ operationId }) => [operationId, empty]));
  const application = createApplication<string | null>({
    contract: { routes: sampleRoutes, bodyValidators: { createThing: namedThing } },
    admission: { authenticate: keyed, anonymous: null },
    faults: sampleFaults,
    log: recordingLogger(log),
    ...choices,
    handlers: { ...defaults, ...choices.handlers },
  });
  const server = await listen(application, {
    host: "127.0.0.1",
    port: 0,
    drainMs: 0,
    abortGraceMs: 50,
    ...choices.listen,
  });
  onTestFinished(() => server.close());
  return { ...server, port: server.address.port, log };
}

async function keyed({ authorization }: { readonly authorization?: string }): Promise<string> {
  if (authorization === undefined) {
    throw new ApiError({
      status: 401,
      type: "sample_error",
      code: "no_key",
      message: "no key",
      headers: { "www-authenticate": "Bearer" },
    });
  }
  return authorization;
}

function recordingLogger(log: LogLine[]): Logger {
  const record = (level: string) => (fields: object, message: string) => void log.push({ level, fields, message });
  return { debug: record("debug"), info: record("info"), warn: record("warn"), error: record("error") };
}

/** A raw connection, for requests that no HTTP client would send. */
export function connectTo({ port }: { readonly port: number }): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Everything that the server sends until it closes the connection. */
export async function everythingFrom(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.once("close", () => resolve());
  await promise;
  return text;
}

export async function* listed<T>(...values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** Resolves when `claim` returns true; only the test's own timeout limits the wait. */
export async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await new Promise(setImmediate);
}
