import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { readRetryAfter } from "./retry-after.ts";
import { explainRefusal } from "./upstream-error.ts";

verifies(
  "chat-engine.errors.status-before-first-byte",
  "chat-engine.errors.secrets-not-passed-on",
  "errors.catalogue.out-of-credit",
);

const CONTEXT = { model: "m", host: "model.test:8000", apiKey: "the-operators-key", keySetting: "MODEL_API_KEY" };
const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

function explain(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  const {
    message,
    status: shownStatus,
    type,
    code,
    param,
    retryAfterSeconds,
  } = explainRefusal({ status, headers, body }, CONTEXT, NOW_MS);
  return { status: shownStatus, type, code, param, retryAfterSeconds, message };
}

const said = (message: string, more: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ error: { message, ...more } });
function check(
  status: number,
  body: string,
  expected: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): void {
  expect(explain(status, body, headers)).toMatchObject(expected);
}

describe("the blame", () => {
  test("a refused key is a server error, and the message says whose key it is", () => {
    verifies("chat-engine.errors.own-key-is-our-fault");
    const fault = { status: 502, type: "server_error", code: "model_authentication_failed", param: null };
    check(401, said("Incorrect API key provided: the-operators-key"), {
      ...fault,
      message:
        "The model server refused the key that this server has for it (MODEL_API_KEY); your API key is not the cause.",
    });
    check(403, said("Forbidden"), {
      ...fault,
      message: "The model server does not permit this server to do that; your API key is not the cause: Forbidden",
    });
    expect(
      explainRefusal(
        { status: 401, headers: {}, body: "" },
        { ...CONTEXT, apiKey: null, keySetting: "MODEL_API_KEY" },
        NOW_MS,
      ).message,
    ).toBe(
      "The model server asks for a key, and this server has none for it (MODEL_API_KEY); your API key is not the cause.",
    );
  });
  test("an unknown model gets the reference's error", () => {
    const expected = {
      status: 400,
      type: "invalid_request_error",
      code: "model_not_found",
      param: "model",
      message: "The requested model 'm' does not exist.",
    };
    check(
      404,
      said("The model `m` does not exist or you do not have access to it.", { code: "model_not_found" }),
      expected,
    );
    check(403, said("Project does not have access", { code: "model_not_found" }), expected);
    check(404, '{"error":"model \\"m\\" not found, try pulling it first"}', expected);
    check(
      404,
      '{"object":"error","message":"The model `m` does not exist.","type":"NotFoundError","code":404}',
      expected,
    );
    check(400, said("m is not a valid model ID"), expected);
  });
  test("a base URL without chat completions is a server error", () => {
    const fault = { status: 502, type: "server_error", message: expect.stringContaining("(MODEL_BASE_URL)") };
    for (const body of ["", "404 page not found", "<html>Not Found</html>", '{"detail":"Not Found"}'])
      check(404, body, fault);
    for (const message of ["Invalid URL (POST /chat/completions)", "File Not Found", "Unknown request URL: POST /x."])
      check(404, said(message, { type: "invalid_request_error" }), fault);
    check(405, '{"detail":"Method Not Allowed"}', fault);
    const body = { error: "Unexpected endpoint or method. (POST /chat/completions)" };
    expect(explainRefusal({ status: null, headers: {}, body }, CONTEXT, NOW_MS)).toMatchObject(fault);
  });
  for (const message of [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Requested tokens (2285) exceed context window of 2048",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Too many input tokens",
    "Input tokens exceed the configured limit of 272000 tokens.",
  ]) {
    test(`is context_length_exceeded: ${message}`, () => {
      const expected = { status: 400, type: "invalid_request_error", code: "context_length_exceeded", param: "input" };
      check(400, said(message), expected);
      check(500, JSON.stringify({ error: message }), expected);
    });
  }
  test("other refusals are bad requests with the server's message and our name of the parameter", () => {
    check(400, said("Bad value", { code: "invalid_value", param: "messages[1].content" }), {
      status: 400,
      type: "invalid_request_error",
      code: "invalid_value",
      param: "input",
      message: "Bad value",
    });
    check(422, '{"detail":[{"loc":["body","x"],"msg":"Field required"}]}', {
      status: 400,
      code: null,
      param: null,
      message: "Field required",
    });
    for (const status of [405, 409, 415, 418, 422, 424, 451]) check(status, said("No"), { status: 400 });
    for (const status of [404, 413]) check(status, said("No"), { status });
    check(400, said("Bad schema", { param: "response_format.json_schema.schema" }), { param: "text.format.schema" });
    check(400, said("Bad", { param: "tools[0].function.parameters" }), { param: "tools[0].parameters" });
    check(400, said("Bad", { param: "max_tokens" }), { param: "max_output_tokens" });
  });
});

describe("limits", () => {
  test("a rate limit is status 429 with Retry-After", () => {
    check(429, said("Rate limit reached. Please try again in 1.2s.", { type: "tokens", code: "rate_limit_exceeded" }), {
      status: 429,
      type: "tokens",
      code: "rate_limit_exceeded",
      retryAfterSeconds: 2,
    });
    check(429, "slow down", {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      message: "The model server is rate limited.",
      retryAfterSeconds: null,
    });
  });
  test("exhausted credit is insufficient_quota", () => {
    const expected = { status: 429, type: "insufficient_quota", code: "insufficient_quota" };
    check(
      429,
      said("You exceeded your current quota, please check your plan and billing details.", {
        code: "insufficient_quota",
      }),
      expected,
    );
    check(402, said("Insufficient Balance"), expected);
  });
  for (const [headers, message, expected] of [
    [{ "retry-after": "3" }, "", 3],
    [{ "retry-after": "0.2" }, "", 1],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, "", 2],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, "", 10],
    [{}, "try again in 20ms", 1],
    [{}, "Please retry after 5 seconds", 5],
    [{}, "try again in 1m30s", 90],
    [{ "retry-after": "soon" }, "later", null],
  ] as const) {
    test(`${JSON.stringify(headers)} and "${message}" mean ${expected}`, () =>
      expect(readRetryAfter(headers, message, NOW_MS)).toBe(expected));
  }
});

describe("failures of the server", () => {
  test("keep their status", () => {
    check(500, said("Out of memory"), {
      status: 500,
      type: "server_error",
      code: "server_error",
      message: "The model server failed with status 500: Out of memory",
    });
    check(503, said("Loading model"), { status: 503, retryAfterSeconds: 4 }, { "retry-after": "4" });
    check(529, said("Overloaded"), { status: 503 });
    for (const status of [501, 502, 505, 511]) check(status, said("No"), { status: 502 });
    check(408, "", { status: 504 });
    for (const status of [204, 302, 307])
      check(status, "", {
        status: 502,
        message: `The model server answered with status ${status} in place of a turn.`,
      });
  });
  test("of an overloaded server have the code server_is_overloaded", () => {
    check(503, said("Busy", { code: "server_is_overloaded" }), { status: 503, code: "server_is_overloaded" });
  });
});

describe("a failure that the request caused", () => {
  verifies("chat-engine.errors.blames-request");
  test.each([
    "[{'type': 'int_parsing', 'loc': ('body', 'seed'), 'msg': 'Input should be a valid integer'}]",
    "2 validation errors for CreateChatCompletionRequest",
    "Jinja Exception: Conversation roles must alternate user/assistant",
    "failed to parse grammar",
  ])("is a bad request: %s", (message) => check(500, said(message), { status: 400, type: "invalid_request_error" }));
  test("stays a failure if it does not say so", () => check(500, said("CUDA out of memory"), { status: 500 }));
});

describe("the message", () => {
  test.each([
    ['Bad value\n  File "/srv/llm/server.py", line 12, in run\n    raise', "Bad value"],
    [
      'Traceback (most recent call last):\n  File "/a/b.py", line 1\nValueError: no such role\n',
      "ValueError: no such role",
    ],
    ["No room\n    at run (/srv/app.js:10:5)\n    at main", "No room"],
    ["cannot open /srv/llama/q4.gguf: it is cut", "cannot open [redacted]: it is cut"],
  ])("shows no stack and no path: %j", (message, shown) => {
    expect(explain(400, said(message)).message).toBe(shown);
  });
  test("shows no raw body", () =>
    expect(explain(500, "<html>Traceback at /srv/app.py</html>").message).toBe(
      "The model server failed with status 500.",
    ));
  test("shows no key, token or address, and at most 500 characters", () => {
    const { message } = explain(
      400,
      said(
        `Key sk-proj-abcdef123456 Bearer abc.def http://10.0.0.1:8000/v1?key=abc the-operators-key\n${"x".repeat(1000)}`,
      ),
    );
    expect(message).toMatch(/^Key \[redacted\] \[redacted\] \[redacted\] \[redacted\] x+…$/);
    expect(message.length).toBe(500);
  });
  test("shows no address of the model server, with or without its scheme", () => {
    verifies("chat-engine.errors.secrets-not-passed-on");
    const { message } = explain(400, said("model.test:8000 cannot reach 10.0.0.7:6379 or redis://cache/0"));
    expect(message).toBe("[redacted] cannot reach [redacted] or [redacted]");
  });
  test("shows the provider's message behind a gateway", () => {
    check(400, said("Provider returned error", { metadata: { raw: "Bad image" } }), {
      message: "Provider returned error: Bad image",
    });
  });
});
