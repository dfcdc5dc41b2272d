import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { verifies } from "../verifies.ts";
import { chunks, serveBehind, UPSTREAM_KEY } from "./behind-upstream.ts";
import { checkReply, type Refusal } from "./check-refusal.ts";
import { readStream } from "./read-stream.ts";

const TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again.";

interface Failure {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly refusal: Refusal;
  readonly retryAfter?: string;
}

const FAILURES: Readonly<Record<string, Failure>> = {
  "a refused key is a fault of this server, and the text says whose key it is": {
    status: 401,
    body: { error: { message: `Incorrect API key provided: ${UPSTREAM_KEY}`, code: "invalid_api_key" } },
    refusal: {
      status: 502,
      type: "server_error",
      code: "model_authentication_failed",
      param: null,
      message:
        "The model server refused the key that this server has for it (MODEL_API_KEY); your API key is not the cause.",
    },
  },
  "a permission that is lacking is a fault of this server": {
    status: 403,
    body: { error: { message: "Not for you." } },
    refusal: {
      status: 502,
      type: "server_error",
      code: "model_authentication_failed",
      param: null,
      message: /your API key is not the cause: Not for you\.$/,
    },
  },
  "a redirection is a fault that names no address": {
    status: 307,
    headers: { location: "http://10.0.0.1:8000/secret" },
    body: "",
    refusal: {
      status: 502,
      type: "server_error",
      code: "server_error",
      param: null,
      message: "The model server answered with status 307 in place of a turn.",
    },
  },
  "an unknown model is model_not_found": {
    status: 404,
    body: { error: { message: "model 'm' not found", type: "not_found_error" } },
    refusal: { code: "model_not_found", param: "model", message: "The requested model 'm' does not exist." },
  },
  "a rate limit keeps its wait": {
    status: 429,
    headers: { "retry-after": "7" },
    body: { error: { message: "Slow down.", type: "tokens", code: "rate_limit_exceeded" } },
    refusal: { status: 429, type: "tokens", code: "rate_limit_exceeded", param: null, message: "Slow down." },
    retryAfter: "7",
  },
  "a wait given only in the message becomes a header": {
    status: 429,
    body: { error: { message: "Please try again in 1.2s." } },
    refusal: {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      param: null,
      message: "Please try again in 1.2s.",
    },
    retryAfter: "2",
  },
  "exhausted credit is insufficient_quota": {
    status: 429,
    body: {
      error: { message: "You exceeded your current quota.", type: "insufficient_quota", code: "insufficient_quota" },
    },
    refusal: {
      status: 429,
      type: "insufficient_quota",
      code: "insufficient_quota",
      param: null,
      message: "You exceeded your current quota.",
    },
  },
  "an input too long is context_length_exceeded": {
    status: 400,
    body: {
      error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" },
    },
    refusal: { code: "context_length_exceeded", param: "input", message: TOO_LONG },
  },
  "too long an input that is reported as a server fault is still the caller's fault": {
    status: 500,
    body: { error: { message: "the request exceeds the available context size" } },
    refusal: { code: "context_length_exceeded", param: "input", message: TOO_LONG },
  },
  "a request that does not fit is a bad one, whatever status says so": {
    status: 422,
    body: { detail: [{ msg: "temperature is too high" }] },
    refusal: { code: "invalid_request_error", param: null, message: "temperature is too high" },
  },
  "a parameter that the model does not have is named as the caller calls it": {
    status: 400,
    body: {
      error: {
        message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
        type: "invalid_request_error",
        param: "max_tokens",
        code: "unsupported_parameter",
      },
    },
    refusal: {
      code: "unsupported_parameter",
      param: "max_output_tokens",
      message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
    },
  },
  "a value that the model does not have is refused with those that it has": {
    status: 400,
    body: {
      error: {
        message:
          "Unsupported value: 'minimal' is not supported with the 'm' model. Supported values are: 'low' and 'high'.",
        type: "invalid_request_error",
        param: "reasoning_effort",
        code: "unsupported_value",
      },
    },
    refusal: {
      code: "unsupported_value",
      param: "reasoning.effort",
      message:
        "Unsupported value: 'minimal' is not supported with the 'm' model. Supported values are: 'low' and 'high'.",
    },
  },
  "a reasoning model gives no logprobs": {
    status: 400,
    body: {
      error: {
        message: "logprobs are not supported with reasoning models.",
        type: "invalid_request_error",
        param: "logprobs",
        code: "unsupported_parameter",
      },
    },
    refusal: {
      code: "unsupported_parameter",
      param: "top_logprobs",
      message: "logprobs are not supported with reasoning models.",
    },
  },
  "a fault stays 500, without its raw body": {
    status: 500,
    body: "<html>Traceback in /opt/secret</html>",
    refusal: {
      status: 500,
      type: "server_error",
      code: "server_error",
      param: null,
      message: "The model server failed with status 500.",
    },
  },
  "an overload stays 503": {
    status: 503,
    headers: { "retry-after": "3" },
    body: { error: { message: "Loading the model" } },
    refusal: {
      status: 503,
      type: "server_error",
      code: "server_error",
      param: null,
      message: /failed with status 503: Loading the model$/,
    },
    retryAfter: "3",
  },
};

describe("an error of the model server before its first byte", () => {
  verifies(
    "chat-engine.errors.status-before-first-byte",
    "chat-engine.errors.secrets-not-passed-on",
    "errors.catalogue.out-of-credit",
  );
  verifies("chat-engine.errors.own-key-is-our-fault");
  verifies("errors.catalogue.context-length", "errors.messages.no-internals");
  verifies("errors.catalogue.parameter-unfit-for-model", "errors.catalogue.value-unfit-for-model");
  verifies("errors.catalogue.logprobs-on-reasoning-model");
  test.each(Object.entries(FAILURES))(
    "%s",
    async (_title, { status, body, headers = {}, refusal, retryAfter = null }) => {
      const { create } = await serveBehind((response) => {
        const isText = typeof body === "string";
        response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
        response.end(isText ? body : JSON.stringify(body));
      });
      for (const stream of [false, true]) {
        const reply = await create({ stream });
        expect(reply.headers.get("retry-after")).toBe(retryAfter);
        expect(await reply.clone().text()).not.toMatch(/operators|secret|html|127\.0\.0\.1|10\.0\.0\.1/);
        await checkReply(reply, refusal);
      }
    },
  );

  test("leaves no response behind", async () => {
    const { server, create } = await serveBehind((response) => response.writeHead(500).end());
    await create({ metadata: { a: "1" } });
    const database = new DatabaseSync(`${server.dataDir}/antiphon.db`, { readOnly: true });
    expect(database.prepare("select count(*) as count from responses").get()).toEqual({ count: 0 });
    database.close();
  });

  test("a missing model server is 502", async () => {
    const { create } = await serveBehind(() => {}, { MODEL_BASE_URL: "http://127.0.0.1:1/v1" });
    const message = /^Cannot reach the model server: [^/:]+\.$/;
    await checkReply(await create(), { status: 502, type: "server_error", code: "server_error", param: null, message });
  });

  test("a model server that does not answer in time is 504", async () => {
    verifies("chat-engine.timeout.connect-and-first-byte");
    const { create } = await serveBehind(() => {}, { MODEL_IDLE_TIMEOUT_MS: "50" });
    await checkReply(await create(), {
      status: 504,
      type: "server_error",
      code: "server_error",
      param: null,
      message: "The model server sent nothing for 0.05 s.",
    });
  });
});

/** Errors after the answer has started, as the client gets them in the event `error` and in the failed response. */
const BROKEN_OFF: Readonly<Record<string, readonly [error: object, event: object, responseCode: string]>> = {
  "a rate limit": [
    { message: "Rate limit reached for m. Please try again in 1.2s.", type: "tokens", code: "rate_limit_exceeded" },
    {
      type: "tokens",
      code: "rate_limit_exceeded",
      message: "Rate limit reached for m. Please try again in 1.2s.",
      param: null,
    },
    "rate_limit_exceeded",
  ],
  "a rate limit told by its type": [
    { message: "Slow down.", type: "rate_limit_error" },
    { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Slow down." },
    "rate_limit_exceeded",
  ],
  "a quota that is used up": [
    { message: "You exceeded your current quota.", type: "insufficient_quota", code: "insufficient_quota" },
    { type: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your current quota." },
    "insufficient_quota",
  ],
  "an overload": [
    { message: "Our servers are overloaded.", type: "overloaded_error" },
    {
      type: "server_error",
      code: "server_is_overloaded",
      message: "The model server failed with status 503: Our servers are overloaded.",
    },
    "server_is_overloaded",
  ],
  "an input that is too long": [
    { message: "Too long.", type: "invalid_request_error", code: "context_length_exceeded" },
    { type: "invalid_request_error", code: "context_length_exceeded", param: "input" },
    "context_length_exceeded",
  ],
  "a prompt that is not allowed": [
    { message: "Not allowed.", type: "invalid_request_error", code: "invalid_prompt" },
    { type: "invalid_request_error", code: "invalid_prompt", message: "Not allowed." },
    "invalid_prompt",
  ],
  "this server's own key": [
    { message: "Incorrect API key provided.", type: "authentication_error", code: "invalid_api_key" },
    { type: "server_error", code: "model_authentication_failed" },
    "server_error",
  ],
  "something without a name": [
    { message: "boom" },
    { type: "server_error", code: "server_error", message: "The model server gave up its answer: boom" },
    "server_error",
  ],
};

describe("an error of the model server inside its stream", () => {
  verifies("chat-engine.errors.names-inside-stream", "chat-engine.errors.failed-event-after");
  test.each(Object.entries(BROKEN_OFF))(
    "%s reaches the client by its name and with its message",
    async (_title, [error, event, code]) => {
      const { server, create } = await serveBehind(chunks(textChunk("Half"), { error }));
      const { events, final } = await readStream(await create({ stream: true }));
      expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
      expect(events.at(-2)).toMatchObject({ error: event });
      const failure = { status: "failed", error: { code } };
      expect(final).toMatchObject(failure);
      expect(await (await server.fetch(`/v1/responses/${final.id}`)).json()).toMatchObject(failure);
      expect(await (await create()).json()).toMatchObject(failure);
    },
  );
});

describe("a refusal of the model server of a background response", () => {
  verifies("chat-engine.errors.own-key-is-our-fault");
  test("fails the response with a published code, and names this server's key", async () => {
    const { create } = await serveBehind((response) => response.writeHead(401).end());
    const { events, final } = await readStream(await create({ stream: true, background: true }));
    expect(events.at(-2)).toMatchObject({
      type: "error",
      error: { type: "server_error", code: "model_authentication_failed" },
    });
    expect(final).toMatchObject({ status: "failed", error: { code: "server_error" } });
  });
});
