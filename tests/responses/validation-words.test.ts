import { afterAll, beforeAll, describe, test } from "vitest";
import { startTestServer, type TestServer } from "../test-server.ts";
import { verifies } from "../verifies.ts";
import { checkCreate, type Members, missing, outOfBounds, type Refusal, unknown, wrongType, wrongValue } from "./check-refusal.ts";

type Cases = Readonly<Record<string, readonly [Members, Refusal]>>;

const user = (content: unknown): Members => ({ input: [{ role: "user", content }] });
const tool = (members: object): Members => ({ tools: [{ type: "function", ...members }] });
const pairs = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

const ROLES = "'assistant', 'system', 'developer', and 'user'";
const ITEM_TYPES =
  "'additional_tools', 'agent_message', 'apply_patch_call', 'apply_patch_call_output', 'code_interpreter_call', 'compaction', 'compaction_trigger', 'computer_call', 'computer_call_output', 'custom_tool_call', 'custom_tool_call_output', 'file_search_call', 'function_call', 'function_call_output', 'image_generation_call', 'item_reference', 'local_shell_call', 'local_shell_call_output', 'mcp_approval_request', 'mcp_approval_response', 'mcp_call', 'mcp_list_tools', 'message', 'multi_agent_call', 'multi_agent_call_output', 'program', 'program_output', 'reasoning', 'shell_call', 'shell_call_output', 'tool_search_call', 'tool_search_output', and 'web_search_call'";
const PART_TYPES =
  "'input_text', 'input_image', 'input_audio', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'";
const INCLUDES =
  "'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'";
const EFFORTS = "'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'";

const UNKNOWN: Cases = {
  "a hint names the nearest known member": [{ sto: true }, unknown("sto", " Did you mean 'store'?")],
  "two members at one distance are offered in alphabetical order": [{ stre: true }, unknown("stre", " Did you mean 'store' or 'stream'?")],
  "the nearer of two members comes first": [{ strem: true }, unknown("strem", " Did you mean 'stream' or 'store'?")],
  "a member that was sent is not offered": [{ modell: "m" }, unknown("modell")],
  "a member far from all others has no hint": [{ frequency_of_updates: 1 }, unknown("frequency_of_updates")],
  "nested members have no hint": [{ text: { formet: {} } }, unknown("text.formet")],
  "members of reasoning are checked": [{ reasoning: { bogus: 1 } }, unknown("reasoning.bogus")],
  "the deprecated generate_summary is unknown": [{ reasoning: { generate_summary: "auto" } }, unknown("reasoning.generate_summary")],
  "members of stream_options are checked": [{ stream_options: { include_usage: true } }, unknown("stream_options.include_usage")],
  "members of prompt_cache_options are checked": [{ prompt_cache_options: { bogus: 1 } }, unknown("prompt_cache_options.bogus")],
  "members of an item are checked": [{ input: [{ role: "user", content: "Hi", x: 1 }] }, unknown("input[0].x")],
  "phase belongs to assistant messages": [{ input: [{ role: "user", content: "Hi", phase: "commentary" }] }, unknown("input[0].phase")],
  "multi_agent needs the beta header": [{ multi_agent: {} }, unknown("multi_agent")],
};

const MISSING: Cases = {
  model: [{ model: undefined }, missing("model")],
  input: [{ input: undefined }, missing("input")],
  "the content of a message": [{ input: [{ role: "user" }] }, missing("input[0].content")],
  "the text of a part": [user([{ type: "input_text" }]), missing("input[0].content[0].text")],
  "the type of a tool": [{ tools: [{ name: "f" }] }, missing("tools[0].type")],
  "the name of a tool": [tool({}), missing("tools[0].name")],
  "the name of a chat-shaped tool": [tool({ function: { name: "f", parameters: {} } }), missing("tools[0].name")],
  "the name of a forced function": [{ tool_choice: { type: "function" } }, missing("tool_choice.name")],
  "the name of a chat-shaped forced function": [{ tool_choice: { type: "function", function: { name: "f" } } }, missing("tool_choice.name")],
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
  "a string as parallel_tool_calls": [{ parallel_tool_calls: "x" }, wrongType("parallel_tool_calls", "a boolean", "a string")],
  "a string as max_output_tokens": [{ max_output_tokens: "16" }, wrongType("max_output_tokens", "an integer", "a string")],
  "a string as top_logprobs": [{ top_logprobs: "3" }, wrongType("top_logprobs", "an integer", "a string")],
  "a string as temperature": [{ temperature: "hot" }, wrongType("temperature", "a decimal", "a string")],
  "an object as tools": [{ tools: {} }, wrongType("tools", "an array of tools", "an object")],
  "an integer as tool_choice": [{ tool_choice: 5 }, wrongType("tool_choice", "one of an object or 'none', 'auto', or 'required'", "an integer")],
  "an array as metadata": [{ metadata: [] }, wrongType("metadata", "a metadata object", "an array")],
  "a number in metadata": [{ metadata: { k: 5 } }, wrongType("metadata.k", "a string", "an integer")],
  "an integer as truncation": [{ truncation: 5 }, wrongType("truncation", "one of 'auto' or 'disabled'", "an integer")],
  "an object as context_management": [{ context_management: {} }, wrongType("context_management", "an array of objects", "an object")],
  "a string as text": [{ text: "short" }, wrongType("text", "an object", "a string")],
  "a string as reasoning": [{ reasoning: "low" }, wrongType("reasoning", "an object", "a string")],
  "a number as instructions": [{ instructions: 5 }, wrongType("instructions", "a string", "an integer")],
  "an object as instructions": [{ instructions: {} }, wrongType("instructions", "a string", "an object")],
  "a boolean as previous_response_id": [{ previous_response_id: true }, wrongType("previous_response_id", "a string", "a boolean")],
  "a boolean as effort": [
    { reasoning: { effort: true } },
    wrongType("reasoning.effort", "one of one of 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', or 'max' or integer", "a boolean"),
  ],
  "an integer as effort": [{ reasoning: { effort: 3 } }, wrongType("reasoning.effort", "one of 'minimal', 'low', 'medium', or 'high'", "an integer")],
  "a string as include": [
    { include: "x" },
    wrongType(
      "include",
      "an array of one of 'fil...lts', 'web...lts', 'web...ces', 'mes...url', 'com...url', 'cod...uts', 'rea...ent', or 'mes...obs'",
      "a string",
    ),
  ],
};

const VALUES: Cases = {
  truncation: [{ truncation: "off" }, wrongValue("truncation", "off", "'auto' and 'disabled'")],
  tool_choice: [{ tool_choice: "any" }, wrongValue("tool_choice", "any", "'none', 'auto', and 'required'")],
  "a role": [{ input: [{ role: "tool", content: "Hi" }] }, wrongValue("input[0].role", "tool", ROLES)],
  "text.format.type": [{ text: { format: { type: "xml" } } }, wrongValue("text.format.type", "xml", "'json_object', 'text', and 'json_schema'")],
  "text.verbosity": [{ text: { verbosity: "huge" } }, wrongValue("text.verbosity", "huge", "'low', 'medium', and 'high'")],
  "reasoning.summary": [{ reasoning: { summary: "x" } }, wrongValue("reasoning.summary", "x", "'concise', 'detailed', and 'auto'")],
  "reasoning.effort": [{ reasoning: { effort: "x" } }, wrongValue("reasoning.effort", "x", EFFORTS)],
  service_tier: [{ service_tier: "x" }, wrongValue("service_tier", "x", "'auto', 'default', 'fast', 'flex', and 'priority'")],
  prompt_cache_retention: [{ prompt_cache_retention: "x" }, wrongValue("prompt_cache_retention", "x", "'in_memory' and '24h'")],
  phase: [
    { input: [{ role: "assistant", content: "Hi", phase: "x" }] },
    wrongValue("input[0].phase", "x", "'commentary' and 'final_answer'"),
  ],
  include: [{ include: ["x"] }, wrongValue("include[0]", "x", INCLUDES)],
  "the type of an item": [{ input: [{ type: "x" }] }, wrongValue("input[0]", "x", ITEM_TYPES)],
  "the type of an item that is a number": [{ input: [{ type: 5 }] }, wrongValue("input[0]", "", ITEM_TYPES)],
  "an item with neither type nor role": [{ input: [{}] }, wrongValue("input[0]", "", ROLES)],
  "the type of a part": [user([{ type: "x" }]), wrongValue("input[0].content[0].type", "x", PART_TYPES)],
  "a part of assistants in a user message": [
    user([{ type: "output_text", text: "Hi" }]),
    wrongValue("input[0].content[0]", "output_text", "'input_text', 'input_image', 'input_file', 'scoped_content', and 'input_audio'"),
  ],
  "a part of users in an assistant message": [
    { input: [{ role: "assistant", content: [{ type: "input_text", text: "Hi" }] }] },
    wrongValue("input[0].content[0]", "input_text", "'output_text' and 'refusal'"),
  ],
};

const BOUNDS: Cases = {
  "too few output tokens": [
    { max_output_tokens: 0 },
    outOfBounds("integer_below_min_value", "max_output_tokens", "integer below minimum value. Expected a value >= 16, but got 0 instead."),
  ],
  "no tool calls": [
    { max_tool_calls: 0 },
    outOfBounds("integer_below_min_value", "max_tool_calls", "integer below minimum value. Expected a value >= 1, but got 0 instead."),
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
    outOfBounds("integer_above_max_value", "top_logprobs", "integer above maximum value. Expected a value <= 20, but got 21 instead."),
  ],
  "a temperature below 0": [
    { temperature: -1 },
    outOfBounds("decimal_below_min_value", "temperature", "decimal below minimum value. Expected a value >= 0, but got -1 instead."),
  ],
  "a temperature above 2": [
    { temperature: 2.5 },
    outOfBounds("decimal_above_max_value", "temperature", "decimal above maximum value. Expected a value <= 2, but got 2.5 instead."),
  ],
  "a top_p above 1": [
    { top_p: 1.5 },
    outOfBounds("decimal_above_max_value", "top_p", "decimal above maximum value. Expected a value <= 1, but got 1.5 instead."),
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
    { code: "string_above_max_length", param: "metadata", message: /maximum length 64, but got a string with length 65 instead\.$/ },
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

describe("a create request is refused in the reference's words for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = (subject: string, cases: Cases) =>
    describe(subject, () => {
      test.each(Object.entries(cases))("%s", (_title, [members, refusal]) => checkCreate(server, members, refusal));
    });

  verifies("errors.catalogue.unknown-parameter", "errors.catalogue.spelling-hint", "errors.catalogue.no-nested-spelling-hint");
  verifies("create.input.phase-on-assistant-only");
  check("an unknown member:", UNKNOWN);
  verifies("errors.catalogue.missing-model", "errors.catalogue.missing-nested-member");
  check("a missing member:", MISSING);
  verifies("errors.catalogue.wrong-type", "validation.words.expected-types");
  check("a member of the wrong type:", TYPES);
  verifies("errors.catalogue.value-outside-enum", "validation.items.unknown-type-param", "validation.items.no-type-no-role");
  verifies("validation.items.part-on-wrong-role");
  check("a value outside its enumeration:", VALUES);
  verifies("errors.catalogue.integer-bounds", "errors.catalogue.decimal-bounds", "errors.catalogue.metadata-pairs");
  verifies("errors.catalogue.metadata-lengths", "errors.catalogue.string-too-long");
  check("a value out of bounds:", BOUNDS);
});
