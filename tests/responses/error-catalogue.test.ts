import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderError } from "../../src/responses-api/errors/invalid-request.ts";
import { notImplemented } from "../../src/responses-api/errors/server-errors.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import {
  type Cases,
  checkCreate,
  checkEach,
  checkReply,
  codeless,
  missing,
  type Refusal,
  unknown,
  wrongValue,
} from "./check-refusal.ts";

const moved = (from: string, to: string): Refusal => ({
  code: "unsupported_parameter",
  param: null,
  message: new RegExp(
    `^Unsupported parameter: '${from}'\\. In the Responses API, this parameter has moved to '${to}'\\.`,
  ),
});
const noSuchModel = (model: string): Refusal => ({
  code: "model_not_found",
  param: "model",
  message: `The requested model '${model}' does not exist.`,
});
const notJson: Refusal = {
  code: "invalid_json",
  param: null,
  message:
    "Invalid body: failed to parse JSON value. Please check the value to ensure it is valid JSON. (Common errors include trailing commas, missing closing brackets, missing quotation marks, etc.)",
};
const missingInput: Refusal = {
  code: "missing_required_parameter",
  param: null,
  message: `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`,
};
const itemNotStored = (id: string): Refusal =>
  codeless(
    "input",
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    404,
  );

const CHAT_MEMBERS: Cases = {
  messages: [{ messages: [] }, moved("messages", "input")],
  response_format: [{ response_format: {} }, moved("response_format", "text.format")],
  ...Object.fromEntries(
    ["n", "stop", "seed", "logprobs", "max_tokens", "logit_bias", "functions", "modalities"].map((name) => [
      name,
      [
        { [name]: 1 },
        { code: "unknown_parameter", param: name, message: new RegExp(`^Unknown parameter: '${name}'\\.`) },
      ],
    ]),
  ),
};

/** Members of the Chat Completions API, and the members that have their meaning here. */
const OTHERWISE: Cases = Object.fromEntries(
  [
    ["max_tokens", "max_output_tokens"],
    ["max_completion_tokens", "max_output_tokens"],
    ["reasoning_effort", "reasoning.effort"],
    ["functions", "tools"],
  ].map(([name = "", here]) => [name, [{ [name]: 1 }, unknown(name, ` Did you mean '${here}'?`)]]),
);

const STATE: Cases = {
  "an empty text as input": [{ input: "" }, missingInput],
  "no items as input": [{ input: [] }, missingInput],
  "an unknown model": [{ model: "gpt-none" }, noSuchModel("gpt-none")],
  "a model whose name is almost right": [
    { model: "antiphon-builtin" },
    {
      ...noSuchModel(""),
      message: "The requested model 'antiphon-builtin' does not exist. Did you mean 'antiphon-built-in'?",
    },
  ],
  "an empty model name": [{ model: "" }, noSuchModel("")],
  "an unknown previous response": [
    { previous_response_id: "resp_x" },
    {
      code: "previous_response_not_found",
      param: "previous_response_id",
      message: "Previous response with id 'resp_x' not found.",
    },
  ],
  "a previous response id with a foreign prefix": [
    { previous_response_id: "msg_x" },
    {
      code: "invalid_value",
      param: "previous_response_id",
      message: "Invalid 'previous_response_id': 'msg_x'. Expected an ID that begins with 'resp'.",
    },
  ],
  "a previous response id with foreign characters": [
    { previous_response_id: "resp x" },
    {
      code: "invalid_value",
      param: "previous_response_id",
      message:
        /^Invalid 'previous_response_id': 'resp x'\. Expected an ID that contains letters, numbers, underscores, or dashes/,
    },
  ],
  "an item id with foreign characters": [
    { input: [{ id: "msg 1", role: "user", content: "Hi" }] },
    {
      code: "invalid_value",
      param: "input[0].id",
      message:
        "Invalid 'input[0].id': 'msg 1'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
    },
  ],
  "chain and conversation together": [
    { previous_response_id: "resp_x", conversation: "conv_x" },
    {
      code: "mutually_exclusive_parameters",
      param: null,
      message:
        "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'previous_response_id' or 'conversation'.",
    },
  ],
  "a reference to an item that is not stored": [
    { input: [{ type: "item_reference", id: "rs_x" }] },
    itemNotStored("rs_x"),
  ],
  "a reference without its type": [{ input: [{ id: "rs_x" }] }, itemNotStored("rs_x")],
};

/** Method, path and refusal of requests other than creates. */
const ROUTES: Readonly<Record<string, readonly [string, string, Refusal]>> = {
  "an unknown path": ["GET", "/v1/nothing", codeless(null, "Invalid URL (GET /v1/nothing)", 404)],
  ...Object.fromEntries(
    [
      ["/messages", "Did you mean /v1/messages? The base URL of Anthropic's clients has no /v1."],
      ["/chat/completions", "Did you mean /v1/chat/completions?"],
      ["/v1/threads/x/runs", "Use POST /v1/responses, and /v1/conversations to keep a history."],
      ["/v1/images/generations", "Use POST /v1/responses with the tool 'image_generation'."],
      ["/v1/v1/responses", "The base URL ends with /v1 already: did you mean /v1/responses?"],
      ["/v1", "This is the base URL of the API: use POST /v1/responses."],
      ["/responses", "Did you mean /v1/responses?"],
    ].map(([path = "", advice]) => [
      `a path of another API, ${path}`,
      ["POST", path, codeless(null, `Invalid URL (POST ${path}). ${advice}`, 404)],
    ]),
  ),
  "an unknown path with a method that writes": [
    "POST",
    "/v1/nothing",
    codeless(null, "Invalid URL (POST /v1/nothing)", 404),
  ],
  "a response that is not there": [
    "GET",
    "/v1/responses/resp_x",
    codeless(null, "Response with id 'resp_x' not found.", 404),
  ],
  "a response to delete that is not there": [
    "DELETE",
    "/v1/responses/resp_x",
    codeless(null, "Response with id 'resp_x' not found.", 404),
  ],
  "items of a response that is not there": [
    "GET",
    "/v1/responses/resp_x/input_items",
    codeless(null, "Response with id 'resp_x' not found.", 404),
  ],
  "a limit above 100": [
    "GET",
    "/v1/responses/resp_x/input_items?limit=1000",
    {
      code: "integer_above_max_value",
      param: "limit",
      message: "Invalid 'limit': integer above maximum value. Expected a value <= 100, but got 1000 instead.",
    },
  ],
  "a limit below 1": [
    "GET",
    "/v1/responses/resp_x/input_items?limit=0",
    {
      code: "integer_below_min_value",
      param: "limit",
      message: "Invalid 'limit': integer below minimum value. Expected a value >= 1, but got 0 instead.",
    },
  ],
  "an unknown order": [
    "GET",
    "/v1/responses/resp_x/input_items?order=up",
    wrongValue("order", "up", "'asc' and 'desc'"),
  ],
  "a model that is not there": [
    "GET",
    "/v1/models/gpt-none",
    { status: 404, code: "model_not_found", param: "model", message: "The model 'gpt-none' does not exist." },
  ],
  ...Object.fromEntries(
    ["GET", "DELETE"].map((method) => [
      `a model whose name is almost right, with ${method}`,
      [
        method,
        "/v1/models/Antiphon-builtin",
        {
          status: 404,
          code: "model_not_found",
          param: "model",
          message: "The model 'Antiphon-builtin' does not exist. Did you mean 'antiphon-built-in'?",
        },
      ],
    ]),
  ),
};

describe("a request gets the reference's error for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = checkEach(() => server);

  verifies("errors.catalogue.chat-messages-moved", "errors.catalogue.chat-only-members");
  check("members of chat completions:", CHAT_MEMBERS);
  verifies("errors.messages.name-what-was-meant");
  check("members that are named otherwise here:", OTHERWISE);
  verifies(
    "errors.catalogue.nothing-to-answer",
    "errors.catalogue.unknown-model-is-400",
    "errors.catalogue.ill-formed-id",
  );
  verifies("errors.catalogue.previous-response-not-found", "errors.catalogue.chain-and-conversation");
  verifies("errors.catalogue.item-reference-not-stored");
  check("what it refers to:", STATE);
  describe("its route:", () => {
    verifies("errors.messages.name-what-was-meant");
    verifies("http.routes.unknown-path-is-404", "errors.catalogue.unknown-response-is-404", "lists.query.limit-bounds");
    test.each(Object.entries(ROUTES))("%s", async (_title, [method, path, refusal]) =>
      checkReply(await server.fetch(path, { method }), refusal),
    );
  });

  describe("its body:", () => {
    verifies("errors.catalogue.invalid-json");
    const headers = { "content-type": "application/json" };
    test.each(["{", "", '{"model": "m",}', "model=m"])("%s", async (body) =>
      checkReply(await server.fetch("/v1/responses", { method: "POST", headers, body }), notJson),
    );
  });

  test("the same errors are plain JSON even if a stream was requested", async () => {
    verifies("errors.stage.before-generation-is-plain-http", "errors.envelope.code-repeats-type");
    verifies(
      "errors.envelope.four-members-always",
      "errors.envelope.empty-param-is-null",
      "errors.envelope.invalid-request-code",
    );
    await checkCreate(server, { stream: true, model: undefined }, missing("model"));
    await checkCreate(server, { stream: true, model: "gpt-none" }, noSuchModel("gpt-none"));
    await checkCreate(
      server,
      { stream: true, input: [{ type: "function_call_output", call_id: "call_x", output: "1" }] },
      codeless("input", /^No tool call found/),
    );
  });

  test("an operation that a server lacks is not asked for again by the official client", async () => {
    verifies("http.headers.not-implemented-is-not-retried");
    const refusal = notImplemented("listVectorStores");
    expect(refusal).toMatchObject({
      status: 501,
      code: "not_implemented",
      message: expect.stringContaining("'listVectorStores'"),
    });
    let asked = 0;
    const answer = async (): Promise<Response> => {
      asked += 1;
      return Response.json(renderError(refusal), { status: refusal.status, headers: { ...refusal.headers } });
    };
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 2, fetch: answer });
    await expect(client.vectorStores.list()).rejects.toMatchObject({ status: 501 });
    expect(asked).toBe(1);
  });
});

test("a model is found by its name without a tag", async () => {
  verifies("errors.messages.name-what-was-meant");
  const scenario = 'models: ["llama3.2:1b", "qwen3:8b"]\nscenarios: []';
  const server = await startTestServer({ scenario });
  for (const [named, near] of [
    ["Llama3.2", "llama3.2:1b"],
    ["qwen3:14b", "qwen3:8b"],
  ]) {
    const message = `The model '${named}' does not exist. Did you mean '${near}'?`;
    const reply = await server.fetch(`/v1/models/${named}`);
    expect(await reply.json()).toMatchObject({ error: { message } });
  }
});
