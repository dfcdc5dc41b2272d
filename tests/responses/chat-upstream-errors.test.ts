import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { serveBehind, UPSTREAM_KEY } from "./behind-upstream.ts";
import { checkReply, type Refusal } from "./check-refusal.ts";

const TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again.";

interface Failure {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly refusal: Refusal;
  readonly retryAfter?: string;
}

const FAILURES: Readonly<Record<string, Failure>> = {
  "a refused key stays 401, and names the model server as the one that refused it": {
    status: 401,
    body: { error: { message: `Incorrect API key provided: ${UPSTREAM_KEY}`, code: "invalid_api_key" } },
    refusal: {
      status: 401,
      type: "authentication_error",
      code: "model_server_authentication",
      param: null,
      message:
        /^The model server at http:\/\/127\.0\.0\.1:\d+ did not accept this server's own key; your key is not the cause/,
    },
  },
  "a permission that is lacking stays 403": {
    status: 403,
    body: { error: { message: "Not for you." } },
    refusal: {
      status: 403,
      type: "permission_error",
      code: "model_server_permission",
      param: null,
      message: /your key is not the cause: Not for you\.$/,
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
  "a wait that only the text tells becomes a header": {
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
  "an input too long that is called a server fault is the caller's all the same": {
    status: 500,
    body: { error: { message: "the request exceeds the available context size" } },
    refusal: { code: "context_length_exceeded", param: "input", message: TOO_LONG },
  },
  "a request that does not fit stays 422": {
    status: 422,
    body: { detail: [{ msg: "temperature is too high" }] },
    refusal: { status: 422, code: "invalid_request_error", param: null, message: "temperature is too high" },
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
      message: /^The model server at http:\/\/127\.0\.0\.1:\d+ failed with status 500\.$/,
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
        expect(await reply.clone().text()).not.toMatch(/operators|secret|html/);
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

  test("a model server that is not there is 502", async () => {
    const { create } = await serveBehind(() => {}, { MODEL_BASE_URL: "http://127.0.0.1:1/v1" });
    const message = /^Cannot reach the model server at http:\/\/127\.0\.0\.1:1: /;
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
      message: /^The model server at /,
    });
  });
});
