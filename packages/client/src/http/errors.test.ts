import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import {
  Antiphon,
  AntiphonError,
  AntiphonSpeech,
  APIConnectionError,
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  InvalidReplyError,
  NotFoundError,
  NotImplementedError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from "../index.ts";
import { collect, eventText, openEvents, sendJson, startLocalServer } from "./local-server.fixture.ts";

const CLASSES = [
  { status: 400, ErrorClass: BadRequestError },
  { status: 401, ErrorClass: AuthenticationError },
  { status: 403, ErrorClass: PermissionDeniedError },
  { status: 404, ErrorClass: NotFoundError },
  { status: 409, ErrorClass: ConflictError },
  { status: 413, ErrorClass: APIError },
  { status: 422, ErrorClass: UnprocessableEntityError },
  { status: 429, ErrorClass: RateLimitError },
  { status: 500, ErrorClass: InternalServerError },
  { status: 501, ErrorClass: NotImplementedError },
  { status: 503, ErrorClass: InternalServerError },
];

test.each(CLASSES)("status $status rejects with $ErrorClass.name", async ({ status, ErrorClass }) => {
  verifies("client.errors.typed-by-status");
  const error = { message: "No.", type: "invalid_request_error", param: "input[0]", code: "some_code" };
  await using server = await startLocalServer((reply) =>
    sendJson(reply, status, { error }, { "x-request-id": "req_1" }),
  );
  const failure = await failureOf(new Antiphon({ baseUrl: server.url, retriesMax: 0 }).listModels());
  expect(failure.constructor).toBe(ErrorClass);
  expect(failure).toBeInstanceOf(AntiphonError);
  expect(failure).toMatchObject({ ...error, status, requestId: "req_1", name: ErrorClass.name });
});

test("an error of the speech server keeps its code and message", async () => {
  verifies("client.errors.typed-by-status");
  const error = { code: "model_loading", message: "The model is loading." };
  await using server = await startLocalServer((reply) => sendJson(reply, 503, { error }));
  const failure = await failureOf(new AntiphonSpeech({ baseUrl: server.url, retriesMax: 0 }).getVersion());
  expect(failure).toMatchObject({ ...error, status: 503, type: null, param: null, requestId: null });
});

const BODIES = [
  { body: "<html>\n  Bad gateway</html>", message: "The server answered 502 Bad Gateway: <html> Bad gateway</html>" },
  { body: "", message: "The server answered 502 Bad Gateway." },
  { body: "null", message: "The server answered 502 Bad Gateway: null" },
  { body: '{"error":"plain words"}', message: "plain words" },
  { body: '{"message":"not nested"}', message: "not nested" },
  { body: '{"error":{"message":7}}', message: 'The server answered 502 Bad Gateway: {"error":{"message":7}}' },
  { body: "x".repeat(3_000_000), message: `The server answered 502 Bad Gateway: ${"x".repeat(200)}…` },
];

test.each(BODIES)(
  "an error reply with another body has its class and the message $message",
  async ({ body, message }) => {
    verifies("client.errors.unparsable-body");
    await using server = await startLocalServer((reply) => void reply.writeHead(502).end(body));
    const failure = await failureOf(new Antiphon({ baseUrl: server.url, retriesMax: 0 }).listModels());
    expect(failure).toBeInstanceOf(InternalServerError);
    expect(failure).toMatchObject({ status: 502, message, code: null, type: null, param: null });
  },
);

test("an error reply that breaks off keeps its status", async () => {
  verifies("client.errors.unparsable-body");
  await using server = await startLocalServer((reply) => {
    reply.writeHead(404, { "content-length": "100" }).write('{"error":');
    setTimeout(() => reply.destroy(), 20);
  });
  const failure = await failureOf(new Antiphon({ baseUrl: server.url }).getModel("x"));
  expect(failure).toBeInstanceOf(NotFoundError);
});

test("a successful reply that is not JSON rejects, and is not retried", async () => {
  await using server = await startLocalServer((reply) => void reply.writeHead(200).end("<html>"));
  const failure = await failureOf(new Antiphon({ baseUrl: server.url }).listModels());
  expect(failure).toBeInstanceOf(InvalidReplyError);
  expect(server.requests).toHaveLength(1);
});

test("an unreachable server rejects with APIConnectionError and its cause", async () => {
  const failure = await failureOf(new Antiphon({ baseUrl: "http://127.0.0.1:1", retriesMax: 0 }).listModels());
  expect(failure).toBeInstanceOf(APIConnectionError);
  expect(failure.cause).toBeInstanceOf(Error);
});

const ERROR_EVENTS = [
  {
    type: "error",
    error: { type: "server_error", code: "overloaded", message: "Busy.", param: null },
    sequence_number: 0,
  },
  { type: "error", code: "overloaded", message: "Busy.", param: null, sequence_number: 0 },
  { type: "response.error", code: "overloaded", message: "Busy.", param: null, sequence_number: 0 },
];

test.each(ERROR_EVENTS)("an error event of type $type is thrown as APIError", async (event) => {
  verifies("client.errors.typed-by-status");
  await using server = await startLocalServer((reply) => {
    openEvents(reply);
    reply.end(eventText(event) + eventText({ type: "response.failed" }));
  });
  const stream = await new Antiphon({ baseUrl: server.url }).createResponse({ model: "m", input: "x", stream: true });
  const failure = await failureOf(collect(stream));
  expect(failure).toBeInstanceOf(APIError);
  expect(failure).toMatchObject({ code: "overloaded", message: "Busy.", status: null, requestId: "req_stream" });
});

async function failureOf(call: Promise<unknown>): Promise<Error> {
  const failure: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error("The call did not reject.");
  return failure;
}
