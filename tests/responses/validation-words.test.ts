import { afterAll, beforeAll, describe } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type Cases, checkEach, type Members, missing, outOfBounds, unknown, wrongType } from "./check-refusal.ts";

const user = (content: unknown): Members => ({ input: [{ role: "user", content }] });
const tool = (members: object): Members => ({ tools: [{ type: "function", ...members }] });
const pairs = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

const CHAT_SHAPE_HINT =
  " In the Responses API, 'name', 'description', 'parameters' and 'strict' stand beside 'type', not within 'function'.";

const UNKNOWN: Cases = {
  "a hint names the nearest known member": [{ sto: true }, unknown("sto", " Did you mean 'store'?")],
  "two members at one distance are offered in alphabetical order": [
    { stre: true },
    unknown("stre", " Did you mean 'store' or 'stream'?"),
  ],
  "the nearer of two members comes first": [{ strem: true }, unknown("strem", " Did you mean 'stream' or 'store'?")],
  "a member that was sent is not offered": [{ modell: "m" }, unknown("modell")],
  "a member far from all others has no hint": [{ frequency_of_updates: 1 }, unknown("frequency_of_updates")],
  "nested members have no hint": [{ text: { formet: {} } }, unknown("text.formet")],
  "members of reasoning are checked": [{ reasoning: { bogus: 1 } }, unknown("reasoning.bogus")],
  "the deprecated generate_summary is unknown": [
    { reasoning: { generate_summary: "auto" } },
    unknown("reasoning.generate_summary"),
  ],
  "members of stream_options are checked": [
    { stream_options: { include_usage: true } },
    unknown("stream_options.include_usage"),
  ],
  "members of prompt_cache_options are checked": [
    { prompt_cache_options: { bogus: 1 } },
    unknown("prompt_cache_options.bogus"),
  ],
  "members of an item are checked": [{ input: [{ role: "user", content: "Hi", x: 1 }] }, unknown("input[0].x")],
  "phase belongs to assistant messages": [
    { input: [{ role: "user", content: "Hi", phase: "commentary" }] },
    unknown("input[0].phase"),
  ],
  "multi_agent needs the beta header": [{ multi_agent: {} }, unknown("multi_agent")],
};

const MISSING: Cases = {
  model: [{ model: undefined }, missing("model")],
  input: [{ input: undefined }, missing("input")],
  "the content of a message": [{ input: [{ role: "user" }] }, missing("input[0].content")],
  "the text of a part": [user([{ type: "input_text" }]), missing("input[0].content[0].text")],
  "the call id of a tool's output": [
    { input: [{ type: "function_call_output", output: "1" }] },
    missing("input[0].call_id"),
  ],
  "the type of a tool": [{ tools: [{ name: "f" }] }, missing("tools[0].type")],
  "the name of a tool": [tool({}), missing("tools[0].name")],
  "the name of a chat-shaped tool": [
    tool({ function: { name: "f", parameters: {} } }),
    missing("tools[0].name", CHAT_SHAPE_HINT),
  ],
  "the name of a forced function": [{ tool_choice: { type: "function" } }, missing("tool_choice.name")],
  "the name of a chat-shaped forced function": [
    { tool_choice: { type: "function", function: { name: "f" } } },
    missing("tool_choice.name", CHAT_SHAPE_HINT),
  ],
};

const TYPES: Cases = {
  "a number as model": [{ model: 5 }, wrongType("model", "a string", "an integer")],
  "null as model": [{ model: null }, wrongType("model", "a string", "an object")],
  "null as input": [{ input: null }, wrongType("input", "a string", "an object")],
  "an object as input": [{ input: {} }, wrongType("input", "one of a string or array of input items", "an object")],
  "a number as input": [{ input: 5 }, wrongType("input", "one of a string or array of input items", "an integer")],
  "a string as input item": [{ input: ["Hi"] }, wrongType("input[0]", "an input item", "a string")],
  "null as input item": [{ input: [null] }, wrongType("input[0]", "an input item", "null")],
  "a string as stream": [{ stream: "yes" }, wrongType("stream", "a boolean", "a string")],
  "a string as store": [{ store: "no" }, wrongType("store", "a boolean", "a string")],
  "an integer as background": [{ background: 1 }, wrongType("background", "a boolean", "an integer")],
  "a string as parallel_tool_calls": [
    { parallel_tool_calls: "x" },
    wrongType("parallel_tool_calls", "a boolean", "a string"),
  ],
  "a string as max_output_tokens": [
    { max_output_tokens: "16" },
    wrongType("max_output_tokens", "an integer", "a string"),
  ],
  "a string as top_logprobs": [{ top_logprobs: "3" }, wrongType("top_logprobs", "an integer", "a string")],
  "a string as temperature": [{ temperature: "hot" }, wrongType("temperature", "a decimal", "a string")],
  "an object as tools": [{ tools: {} }, wrongType("tools", "an array of tools", "an object")],
  "an integer as tool_choice": [
    { tool_choice: 5 },
    wrongType("tool_choice", "one of an object or 'none', 'auto', or 'required'", "an integer"),
  ],
  "an array as metadata": [{ metadata: [] }, wrongType("metadata", "a metadata object", "an array")],
  "a number in metadata": [{ metadata: { k: 5 } }, wrongType("metadata.k", "a string", "an integer")],
  "an integer as truncation": [{ truncation: 5 }, wrongType("truncation", "one of 'auto' or 'disabled'", "an integer")],
  "an object as context_management": [
    { context_management: {} },
    wrongType("context_management", "an array of objects", "an object"),
  ],
  "a string as text": [{ text: "short" }, wrongType("text", "an object", "a string")],
  "a string as reasoning": [{ reasoning: "low" }, wrongType("reasoning", "an object", "a string")],
  "a number as instructions": [{ instructions: 5 }, wrongType("instructions", "a string", "an integer")],
  "an object as instructions": [{ instructions: {} }, wrongType("instructions", "a string", "an object")],
  "a boolean as previous_response_id": [
    { previous_response_id: true },
    wrongType("previous_response_id", "a string", "a boolean"),
  ],
  "a boolean as effort": [
    { reasoning: { effort: true } },
    wrongType(
      "reasoning.effort",
      "one of one of 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', or 'max' or integer",
      "a boolean",
    ),
  ],
  "an integer as effort": [
    { reasoning: { effort: 3 } },
    wrongType("reasoning.effort", "one of 'minimal', 'low', 'medium', or 'high'", "an integer"),
  ],
  "a string as include": [
    { include: "x" },
    wrongType(
      "include",
      "an array of one of 'fil...lts', 'web...lts', 'web...ces', 'mes...url', 'com...url', 'cod...uts', 'rea...ent', or 'mes...obs'",
      "a string",
    ),
  ],
};

const BOUNDS: Cases = {
  "too few output tokens": [
    { max_output_tokens: 0 },
    outOfBounds(
      "integer_below_min_value",
      "max_output_tokens",
      "integer below minimum value. Expected a value >= 16, but got 0 instead.",
    ),
  ],
  "no tool calls": [
    { max_tool_calls: 0 },
    outOfBounds(
      "integer_below_min_value",
      "max_tool_calls",
      "integer below minimum value. Expected a value >= 1, but got 0 instead.",
    ),
  ],
  "a small compaction threshold": [
    { context_management: [{ type: "compaction", compact_threshold: 5 }] },
    outOfBounds(
      "integer_below_min_value",
      "context_management[0].compact_threshold",
      "integer below minimum value. Expected a value >= 1000, but got 5 instead.",
    ),
  ],
  "too many logprobs": [
    { top_logprobs: 21 },
    outOfBounds(
      "integer_above_max_value",
      "top_logprobs",
      "integer above maximum value. Expected a value <= 20, but got 21 instead.",
    ),
  ],
  "a temperature below 0": [
    { temperature: -1 },
    outOfBounds(
      "decimal_below_min_value",
      "temperature",
      "decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    ),
  ],
  "a temperature above 2": [
    { temperature: 2.5 },
    outOfBounds(
      "decimal_above_max_value",
      "temperature",
      "decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
    ),
  ],
  "a top_p above 1": [
    { top_p: 1.5 },
    outOfBounds(
      "decimal_above_max_value",
      "top_p",
      "decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
    ),
  ],
  "seventeen pairs of metadata": [
    { metadata: pairs(17) },
    outOfBounds(
      "object_above_max_properties",
      "metadata",
      "too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
    ),
  ],
  "a long value in metadata": [
    { metadata: { k: "v".repeat(600) } },
    outOfBounds(
      "string_above_max_length",
      "metadata.k",
      "string too long. Expected a string with maximum length 512, but got a string with length 600 instead.",
    ),
  ],
  "a long key in metadata": [
    { metadata: { ["k".repeat(65)]: "v" } },
    {
      code: "string_above_max_length",
      param: "metadata",
      message: /maximum length 64, but got a string with length 65 instead\.$/,
    },
  ],
  "a long safety_identifier": [
    { safety_identifier: "s".repeat(65) },
    outOfBounds(
      "string_above_max_length",
      "safety_identifier",
      "string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    ),
  ],
};

describe("a create request gets the reference's error message for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = checkEach(() => server);

  verifies(
    "errors.catalogue.unknown-parameter",
    "errors.catalogue.spelling-hint",
    "errors.catalogue.no-nested-spelling-hint",
  );
  verifies("create.input.phase-on-assistant-only");
  check("an unknown member:", UNKNOWN);
  verifies("errors.catalogue.missing-model", "errors.catalogue.missing-nested-member");
  check("a missing member:", MISSING);
  verifies("errors.catalogue.wrong-type", "validation.words.expected-types");
  check("a member of the wrong type:", TYPES);
  verifies("errors.catalogue.integer-bounds", "errors.catalogue.decimal-bounds", "errors.catalogue.metadata-pairs");
  verifies("errors.catalogue.metadata-lengths", "errors.catalogue.string-too-long");
  check("a value out of bounds:", BOUNDS);
});
