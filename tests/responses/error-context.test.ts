import { afterAll, beforeAll, describe } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type Cases, checkEach, codeless, type Members } from "./check-refusal.ts";

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
      message:
        /^Invalid schema for response_format 'answer': In context=\('properties', 'a'\), 'required'.* Missing 'b'\.$/,
    },
  ],
  "a strict function with open arguments": [
    strictFunction({ type: "object", properties: {} }),
    {
      code: "invalid_function_parameters",
      param: "tools[0].parameters",
      message: /^Invalid schema for function 'f': /,
    },
  ],
  "a required tool without any tools": [
    { tool_choice: "required" },
    codeless("tool_choice", "Tool choice 'required' must be specified with 'tools' parameter."),
  ],
  "a forced tool that is not offered": [
    {
      tool_choice: { type: "function", name: "g" },
      tools: [{ type: "function", name: "f", parameters: {}, strict: false }],
    },
    codeless("tool_choice", "Tool choice 'g' not found in 'tools' parameter."),
  ],
  "file data that is no data URL": [
    file("AAAA"),
    {
      code: "invalid_value",
      param: "input[0].content[0].file_data",
      message: /^Invalid file data: 'input\[0\]\.content\[0\]\.file_data'\. /,
    },
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

describe("a create request with members that contradict each other is refused for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = checkEach(() => server);

  verifies(
    "errors.catalogue.call-without-output",
    "errors.catalogue.output-without-call",
    "errors.catalogue.duplicate-item-id",
  );
  verifies("errors.catalogue.reasoning-without-follower", "errors.catalogue.bad-encrypted-content");
  check("a context that makes no sense:", CONTEXT);
  verifies("errors.catalogue.json-object-needs-the-word", "errors.catalogue.strict-schema-refused");
  verifies("errors.catalogue.function-schema-refused", "errors.catalogue.tool-choice-without-tools");
  verifies("errors.catalogue.tool-choice-not-offered", "errors.catalogue.file-data-not-a-data-url");
  check("members that do not fit together:", SENSE);
});
