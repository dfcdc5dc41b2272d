import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import { type ExampleEvent, WEATHER } from "./example-events.fixture.ts";

const STEM = "0123456789abcdef00670000000123456789abcdef01234567";
const at = (item: OutputItem) => ({ item_id: item.id ?? "", output_index: 0 });
const added = (item: OutputItem): ExampleEvent => ({ type: "response.output_item.added", output_index: 0, item });
const done = (item: OutputItem): ExampleEvent => ({ type: "response.output_item.done", output_index: 0, item });

const WEB_SEARCH: OutputItem = {
  id: `ws_${STEM}`,
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query: "weather in Rome" },
};

export const WEB_SEARCH_EVENTS: readonly ExampleEvent[] = [
  added({ id: WEB_SEARCH.id, type: "web_search_call", status: "in_progress" }),
  { type: "response.web_search_call.in_progress", ...at(WEB_SEARCH) },
  { type: "response.web_search_call.searching", ...at(WEB_SEARCH) },
  { type: "response.web_search_call.completed", ...at(WEB_SEARCH) },
  done(WEB_SEARCH),
];

const FILE_SEARCH = {
  id: `fs_${STEM}`,
  type: "file_search_call",
  status: "completed",
  queries: ["weather in Rome"],
  results: null,
} as const satisfies OutputItem;

export const FILE_SEARCH_EVENTS: readonly ExampleEvent[] = [
  added({ ...FILE_SEARCH, status: "in_progress", queries: [] }),
  { type: "response.file_search_call.in_progress", ...at(FILE_SEARCH) },
  { type: "response.file_search_call.searching", ...at(FILE_SEARCH) },
  { type: "response.file_search_call.completed", ...at(FILE_SEARCH) },
  done(FILE_SEARCH),
];

const CODE = "print(1 + 1)";
const INTERPRETER = {
  id: `ci_${STEM}`,
  type: "code_interpreter_call",
  status: "completed",
  code: CODE,
  container_id: `cntr_${STEM}`,
  outputs: null,
} as const satisfies OutputItem;

export const INTERPRETER_EVENTS: readonly ExampleEvent[] = [
  added({ ...INTERPRETER, status: "in_progress", code: "", outputs: [] }),
  { type: "response.code_interpreter_call.in_progress", ...at(INTERPRETER) },
  { type: "response.code_interpreter_call_code.delta", ...at(INTERPRETER), delta: CODE, obfuscation: "C3pz" },
  { type: "response.code_interpreter_call_code.done", ...at(INTERPRETER), code: CODE },
  { type: "response.code_interpreter_call.interpreting", ...at(INTERPRETER) },
  { type: "response.code_interpreter_call.completed", ...at(INTERPRETER) },
  done({ ...INTERPRETER, outputs: [{ type: "logs", logs: "2" }] }),
];

const MCP_LIST = {
  id: `mcpl_${STEM}`,
  type: "mcp_list_tools",
  server_label: "weather",
  tools: [
    {
      annotations: { read_only: false },
      description: "Tells the weather of a city.",
      input_schema: { type: "object", properties: { city: { type: "string" } } },
      name: "get_weather",
    },
  ],
} as const satisfies OutputItem;

export const MCP_LIST_EVENTS: readonly ExampleEvent[] = [
  added({ ...MCP_LIST, tools: [] }),
  { type: "response.mcp_list_tools.in_progress", ...at(MCP_LIST) },
  { type: "response.mcp_list_tools.completed", ...at(MCP_LIST) },
  done({ ...MCP_LIST, tools: [...MCP_LIST.tools] }),
];

export const MCP_LIST_FAILURE: readonly ExampleEvent[] = [{ type: "response.mcp_list_tools.failed", ...at(MCP_LIST) }];

const ARGUMENTS = '{"city":"Rome"}';
const MCP_CALL = {
  id: `mcp_${STEM}`,
  type: "mcp_call",
  status: "completed",
  approval_request_id: null,
  arguments: ARGUMENTS,
  error: null,
  name: "get_weather",
  output: "Sunny",
  server_label: "weather",
} as const satisfies OutputItem;

export const MCP_CALL_EVENTS: readonly ExampleEvent[] = [
  added({ ...MCP_CALL, status: "in_progress", arguments: "", output: null }),
  { type: "response.mcp_call.in_progress", ...at(MCP_CALL) },
  { type: "response.mcp_call_arguments.delta", ...at(MCP_CALL), delta: ARGUMENTS, obfuscation: "C" },
  { type: "response.mcp_call_arguments.done", ...at(MCP_CALL), arguments: ARGUMENTS },
  { type: "response.mcp_call.completed", ...at(MCP_CALL) },
  done(MCP_CALL),
];

export const MCP_CALL_FAILURE: readonly ExampleEvent[] = [{ type: "response.mcp_call.failed", ...at(MCP_CALL) }];

const APPROVAL = {
  id: `mcpr_${STEM}`,
  type: "mcp_approval_request",
  arguments: ARGUMENTS,
  name: "get_weather",
  server_label: "weather",
} as const satisfies OutputItem;

export const MCP_APPROVAL_EVENTS: readonly ExampleEvent[] = [added(APPROVAL), done(APPROVAL)];

const IMAGE = {
  id: `ig_${STEM}`,
  type: "image_generation_call",
  status: "completed",
  background: "opaque",
  output_format: "png",
  quality: "medium",
  result: "iVBORw0KGgo=",
  revised_prompt: "A lighthouse.",
  size: "1024x1024",
} as const satisfies OutputItem;

export const IMAGE_EVENTS: readonly ExampleEvent[] = [
  added({ id: IMAGE.id, type: IMAGE.type, status: "in_progress" }),
  { type: "response.image_generation_call.in_progress", ...at(IMAGE) },
  { type: "response.image_generation_call.generating", ...at(IMAGE) },
  {
    type: "response.image_generation_call.partial_image",
    ...at(IMAGE),
    background: IMAGE.background,
    output_format: IMAGE.output_format,
    partial_image_b64: IMAGE.result,
    partial_image_index: 0,
    quality: IMAGE.quality,
    size: IMAGE.size,
  },
  { type: "response.image_generation_call.completed", ...at(IMAGE) },
  done(IMAGE),
];

const ACTION = { commands: ["ls"], max_output_length: 8192, timeout_ms: null };
const SHELL_CALL = {
  id: `sh_${STEM}`,
  type: "shell_call",
  status: "completed",
  action: ACTION,
  call_id: "call_0123456789abcdefghijklmn",
  environment: null,
} as const;
const IN_SHELL = { output_index: 0, command_index: 0 } as const;

export const SHELL_EVENTS: readonly ExampleEvent[] = [
  added({ ...SHELL_CALL, status: "in_progress", action: { ...ACTION, commands: [], max_output_length: null } }),
  { type: "response.shell_call_command.added", ...IN_SHELL, command: "" },
  { type: "response.shell_call_command.delta", ...IN_SHELL, delta: "ls", obfuscation: "MqLFIoYeoXYWld" },
  { type: "response.shell_call_command.done", ...IN_SHELL, command: "ls" },
  done(SHELL_CALL),
];

const PRINTED = [{ outcome: { type: "exit", exit_code: 0 }, stderr: "", stdout: "notes.txt" } as const];
const SHELL_OUTPUT = {
  id: `sho_${STEM}`,
  type: "shell_call_output",
  status: "completed",
  call_id: SHELL_CALL.call_id,
  max_output_length: null,
  output: PRINTED,
} as const satisfies OutputItem;

export const SHELL_OUTPUT_EVENTS: readonly ExampleEvent[] = [
  added({ ...SHELL_OUTPUT, output: [] }),
  {
    type: "response.shell_call_output_content.delta",
    ...IN_SHELL,
    item_id: SHELL_OUTPUT.id,
    delta: { stdout: "notes.txt" },
  },
  { type: "response.shell_call_output_content.done", ...IN_SHELL, item_id: SHELL_OUTPUT.id, output: PRINTED },
  done(SHELL_OUTPUT),
];

const OPERATION = { type: "update_file", path: "notes.txt", diff: "+hello" } as const;
const PATCH = {
  id: `apc_${STEM}`,
  type: "apply_patch_call",
  status: "completed",
  call_id: SHELL_CALL.call_id,
  operation: OPERATION,
} as const satisfies OutputItem;

export const PATCH_EVENTS: readonly ExampleEvent[] = [
  added({ ...PATCH, status: "in_progress", operation: { ...OPERATION, diff: "" } }),
  {
    type: "response.apply_patch_call_operation_diff.delta",
    ...at(PATCH),
    delta: OPERATION.diff,
    obfuscation: "C3pzECvwdl",
  },
  { type: "response.apply_patch_call_operation_diff.done", ...at(PATCH), diff: OPERATION.diff },
  done(PATCH),
];

const COMPUTER_CALL = {
  id: `cu_${STEM}`,
  type: "computer_call",
  status: "completed",
  call_id: SHELL_CALL.call_id,
} as const;

/** A preview has one action and safety checks. */
export const COMPUTER_PREVIEW_EVENTS: readonly ExampleEvent[] = [
  added({ ...COMPUTER_CALL, status: "in_progress", pending_safety_checks: [] }),
  done({ ...COMPUTER_CALL, action: { type: "wait" }, pending_safety_checks: [] }),
];

export const COMPUTER_EVENTS: readonly ExampleEvent[] = [
  added({ ...COMPUTER_CALL, status: "in_progress" }),
  done({ ...COMPUTER_CALL, actions: [{ type: "screenshot" }, { type: "wait" }] }),
];

const LOCAL_SHELL_CALL = {
  id: `lsh_${STEM}`,
  type: "local_shell_call",
  status: "completed",
  call_id: SHELL_CALL.call_id,
} as const;

export const LOCAL_SHELL_EVENTS: readonly ExampleEvent[] = [
  added({ ...LOCAL_SHELL_CALL, status: "in_progress", action: { type: "exec", command: [], env: {} } }),
  done({ ...LOCAL_SHELL_CALL, action: { type: "exec", command: ["ls"], env: {} } }),
];

const TOOL_SEARCH = {
  id: `tsc_${STEM}`,
  type: "tool_search_call",
  status: "completed",
  arguments: { paths: ["get_weather"] },
  call_id: null,
  execution: "server",
} as const satisfies OutputItem;
const FOUND = {
  id: `tso_${STEM}`,
  type: "tool_search_output",
  status: "completed",
  call_id: null,
  execution: "server",
} as const;

/** A search of the server, which tells what it found by itself. */
export const SERVER_SEARCH_EVENTS: readonly ExampleEvent[] = [
  added({ ...TOOL_SEARCH, status: "in_progress", arguments: {} }),
  done(TOOL_SEARCH),
  added({ ...FOUND, tools: [{ ...WEATHER, defer_loading: true, output_schema: null }] }),
  done({ ...FOUND, tools: [{ ...WEATHER, defer_loading: true, output_schema: null }] }),
];

export const COMPACTING: readonly ExampleEvent[] = [
  { type: "response.compaction.compacting", item_id: `cmp_${STEM}`, output_index: 0 },
];

export const KEEPALIVE: readonly ExampleEvent[] = [{ type: "keepalive" }];
