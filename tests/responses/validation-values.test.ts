import { afterAll, beforeAll, describe } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type Cases, checkEach, type Members, wrongValue } from "./check-refusal.ts";

const user = (content: unknown): Members => ({ input: [{ role: "user", content }] });
const ROLES = "'assistant', 'system', 'developer', and 'user'";
const ITEM_TYPES =
  "'additional_tools', 'agent_message', 'apply_patch_call', 'apply_patch_call_output', 'code_interpreter_call', 'compaction', 'compaction_trigger', 'computer_call', 'computer_call_output', 'custom_tool_call', 'custom_tool_call_output', 'file_search_call', 'function_call', 'function_call_output', 'image_generation_call', 'item_reference', 'local_shell_call', 'local_shell_call_output', 'mcp_approval_request', 'mcp_approval_response', 'mcp_call', 'mcp_list_tools', 'message', 'multi_agent_call', 'multi_agent_call_output', 'program', 'program_output', 'reasoning', 'shell_call', 'shell_call_output', 'tool_search_call', 'tool_search_output', and 'web_search_call'";
const PART_TYPES =
  "'input_text', 'input_image', 'input_audio', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'";
const INCLUDES =
  "'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'";
const EFFORTS = "'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'";

const VALUES: Cases = {
  truncation: [{ truncation: "off" }, wrongValue("truncation", "off", "'auto' and 'disabled'")],
  tool_choice: [{ tool_choice: "any" }, wrongValue("tool_choice", "any", "'none', 'auto', and 'required'")],
  "a role": [{ input: [{ role: "tool", content: "Hi" }] }, wrongValue("input[0].role", "tool", ROLES)],
  "text.format.type": [
    { text: { format: { type: "xml" } } },
    wrongValue("text.format.type", "xml", "'json_object', 'text', and 'json_schema'"),
  ],
  "text.verbosity": [
    { text: { verbosity: "huge" } },
    wrongValue("text.verbosity", "huge", "'low', 'medium', and 'high'"),
  ],
  "reasoning.summary": [
    { reasoning: { summary: "x" } },
    wrongValue("reasoning.summary", "x", "'concise', 'detailed', and 'auto'"),
  ],
  "reasoning.effort": [{ reasoning: { effort: "x" } }, wrongValue("reasoning.effort", "x", EFFORTS)],
  service_tier: [
    { service_tier: "x" },
    wrongValue("service_tier", "x", "'auto', 'default', 'fast', 'flex', and 'priority'"),
  ],
  prompt_cache_retention: [
    { prompt_cache_retention: "x" },
    wrongValue("prompt_cache_retention", "x", "'in_memory' and '24h'"),
  ],
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
    wrongValue(
      "input[0].content[0]",
      "output_text",
      "'input_text', 'input_image', 'input_file', 'scoped_content', and 'input_audio'",
    ),
  ],
  "a part of users in an assistant message": [
    { input: [{ role: "assistant", content: [{ type: "input_text", text: "Hi" }] }] },
    wrongValue("input[0].content[0]", "input_text", "'output_text' and 'refusal'"),
  ],
};

describe("the reference's supported values are listed in its order for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = checkEach(() => server);

  verifies(
    "errors.catalogue.value-outside-enum",
    "validation.items.unknown-type-param",
    "validation.items.no-type-no-role",
  );
  verifies("validation.items.part-on-wrong-role");
  check("a value outside its enumeration:", VALUES);
});
