import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../test-server.ts";
import { verifies } from "../verifies.ts";
import { checkCreate, checkReply, codeless, type Members, missing, type Refusal, wrongValue } from "./check-refusal.ts";

type Cases = Readonly<Record<string, readonly [Members, Refusal]>>;

const call = (callId: string): object => ({ type: "function_call", call_id: callId, name: "f", arguments: "{}" });
const output = (callId: string): object => ({ type: "function_call_output", call_id: callId, output: "1" });
const file = (data: string): Members => ({
  input: [{ role: "user", content: [{ type: "input_file", filename: "f", file_data: data }] }],
});
const strictFunction = (parameters: object): Members => ({
  tools: [{ type: "function", name: "f", strict: true, parameters }],
});
const strictFormat = (schema: object): Members => ({
  text: { format: { type: "json_schema", name: "answer", strict: true, schema } },
});
const moved = (from: string, to: string): Refusal => ({
  code: "unsupported_parameter",
  param: null,
  message: new RegExp(`^Unsupported parameter: '${from}'\\. In the Responses API, this parameter has moved to '${to}'\\.`),
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
const nothingToAnswer: Refusal = {
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
      [{ [name]: 1 }, { code: "unknown_parameter", param: name, message: new RegExp(`^Unknown parameter: '${name}'\\.`) }],
    ]),
  ),
};

const STATE: Cases = {
  "an empty text as input": [{ input: "" }, nothingToAnswer],
  "no items as input": [{ input: [] }, nothingToAnswer],
  "an unknown model": [{ model: "gpt-none" }, noSuchModel("gpt-none")],
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

const CONTEXT: Cases = {
  "a call without its output": [
    { input: [{ role: "user", content: "Hi" }, call("call_x")] },
    codeless("input", "No tool output found for function call call_x."),
  ],
  "an output without its call": [
    { input: [output("call_x")] },
    codeless("input", "No tool call found for function call output with call_id call_x."),
  ],
  "an output of another call": [
    { input: [call("call_x"), output("call_y")] },
    codeless("input", "No tool call found for function call output with call_id call_y."),
  ],
  "two items with one id": [
    {
      input: [
        { id: "msg_a", role: "user", content: "Hi" },
        { id: "msg_a", role: "user", content: "Ho" },
      ],
    },
    codeless("input", "Duplicate item found with id msg_a. Remove duplicate items from your input and try again."),
  ],
  "a reasoning item at the end": [
    { input: [{ type: "reasoning", id: "rs_x", summary: [] }] },
    codeless("input", "Item 'rs_x' of type 'reasoning' was provided without its required following item."),
  ],
  "a reasoning item before a user message": [
    {
      input: [
        { type: "reasoning", id: "rs_x", summary: [] },
        { role: "user", content: "Hi" },
      ],
    },
    codeless("input", "Item 'rs_x' of type 'reasoning' was provided without its required following item."),
  ],
  "encrypted content of others": [
    {
      input: [
        { type: "reasoning", id: "rs_x", summary: [], encrypted_content: "gAAAAABo" },
        { role: "assistant", content: "Hi" },
      ],
    },
    { code: "invalid_encrypted_content", param: null, message: /^The encrypted content .*could not be verified\./ },
  ],
};

const SENSE: Cases = {
  "json_object where nothing says json": [
    { text: { format: { type: "json_object" } } },
    codeless(
      "input",
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    ),
  ],
  "json_object where only the instructions say json": [
    { instructions: "Answer in JSON.", text: { format: { type: "json_object" } } },
    codeless("input", /must contain the word 'json'/),
  ],
  "a strict schema that leaves an object open": [
    strictFormat({ type: "object", properties: {}, required: [] }),
    {
      code: "invalid_json_schema",
      param: "text.format.schema",
      message: /^Invalid schema for response_format 'answer': In context=\(\), 'additionalProperties'/,
    },
  ],
  "a strict schema with an optional property": [
    strictFormat({
      type: "object",
      properties: { a: { type: "object", properties: { b: {} }, required: [], additionalProperties: false } },
      required: ["a"],
      additionalProperties: false,
    }),
    {
      code: "invalid_json_schema",
      param: "text.format.schema",
      message: /^Invalid schema for response_format 'answer': In context=\('properties', 'a'\), 'required'.* Missing 'b'\.$/,
    },
  ],
  "a strict function with open arguments": [
    strictFunction({ type: "object", properties: {} }),
    { code: "invalid_function_parameters", param: "tools[0].parameters", message: /^Invalid schema for function 'f': / },
  ],
  "a required tool where there is none": [
    { tool_choice: "required" },
    codeless("tool_choice", "Tool choice 'required' must be specified with 'tools' parameter."),
  ],
  "a forced tool that is not offered": [
    { tool_choice: { type: "function", name: "g" }, tools: [{ type: "function", name: "f", parameters: {}, strict: false }] },
    codeless("tool_choice", "Tool choice 'g' not found in 'tools' parameter."),
  ],
  "file data that is no data URL": [
    file("AAAA"),
    { code: "invalid_value", param: "input[0].content[0].file_data", message: /^Invalid file data: 'input\[0\]\.content\[0\]\.file_data'\. / },
  ],
  "file data of a kind that is no file": [
    file("data:audio/mpeg;base64,AAAA"),
    {
      code: "invalid_value",
      param: "input[0].content[0].file_data",
      message:
        /^Invalid file data: 'input\[0\]\.content\[0\]\.file_data'\. Expected a base64-encoded data URL with .*, but got unsupported MIME type 'audio\/mpeg'\./,
    },
  ],
};

/** Method, path and refusal of requests that are not creates. */
const ROUTES: Readonly<Record<string, readonly [string, string, Refusal]>> = {
  "an unknown path": ["GET", "/v1/nothing", codeless(null, "Invalid URL (GET /v1/nothing)", 404)],
  "an unknown path with a method that writes": ["POST", "/v1/nothing", codeless(null, "Invalid URL (POST /v1/nothing)", 404)],
  "a response that is not there": ["GET", "/v1/responses/resp_x", codeless(null, "Response with id 'resp_x' not found.", 404)],
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
  "an order that is none": ["GET", "/v1/responses/resp_x/input_items?order=up", wrongValue("order", "up", "'asc' and 'desc'")],
  "a model that is not there": [
    "GET",
    "/v1/models/gpt-none",
    { status: 404, code: "model_not_found", param: "model", message: "The model 'gpt-none' does not exist." },
  ],
};

describe("a request is refused as at the reference for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = (subject: string, cases: Cases) =>
    describe(subject, () => {
      test.each(Object.entries(cases))("%s", (_title, [members, refusal]) => checkCreate(server, members, refusal));
    });

  verifies("errors.catalogue.chat-messages-moved", "errors.catalogue.chat-only-members");
  check("members of chat completions:", CHAT_MEMBERS);
  verifies("errors.catalogue.nothing-to-answer", "errors.catalogue.unknown-model-is-400", "errors.catalogue.ill-formed-id");
  verifies("errors.catalogue.previous-response-not-found", "errors.catalogue.chain-and-conversation");
  verifies("errors.catalogue.item-reference-not-stored");
  check("what it refers to:", STATE);
  verifies("errors.catalogue.call-without-output", "errors.catalogue.output-without-call", "errors.catalogue.duplicate-item-id");
  verifies("errors.catalogue.reasoning-without-follower", "errors.catalogue.bad-encrypted-content");
  check("a context that makes no sense:", CONTEXT);
  verifies("errors.catalogue.json-object-needs-the-word", "errors.catalogue.strict-schema-refused");
  verifies("errors.catalogue.function-schema-refused", "errors.catalogue.tool-choice-without-tools");
  verifies("errors.catalogue.tool-choice-not-offered", "errors.catalogue.file-data-not-a-data-url");
  check("members that do not fit together:", SENSE);

  describe("its route:", () => {
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

  test("the same errors come as plain JSON where a stream was asked for", async () => {
    verifies("errors.stage.before-generation-is-plain-http", "errors.envelope.code-repeats-type");
    verifies("errors.envelope.four-members-always", "errors.envelope.empty-param-is-null", "errors.envelope.invalid-request-code");
    await checkCreate(server, { stream: true, model: undefined }, missing("model"));
    await checkCreate(server, { stream: true, model: "gpt-none" }, noSuchModel("gpt-none"));
    await checkCreate(server, { stream: true, input: [output("call_x")] }, codeless("input", /^No tool call found/));
  });

  test("an operation that is not there yet answers 501 and says its name", async () => {
    const reply = await server.post("/v1/responses/resp_x/cancel", {});
    await checkReply(reply, { status: 501, type: "server_error", code: "not_implemented", param: null, message: /'cancelResponse'/ });
    expect(reply.headers.get("openai-version")).toBe("2020-10-01");
  });
});
