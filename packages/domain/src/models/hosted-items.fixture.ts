import type { HostedItem } from "./hosted.ts";

type ItemOf<Type extends HostedItem["type"]> = Extract<HostedItem, { type: Type }>;

/** The first and the last form of an item of each hosted tool, after a successful call. */
export const SAMPLE_ITEMS: {
  readonly [Type in HostedItem["type"]]: (id: string) => { readonly first: ItemOf<Type>; readonly last: ItemOf<Type> };
} = {
  web_search_call: (id) => ({
    first: { id, type: "web_search_call", status: "in_progress" },
    last: {
      id,
      type: "web_search_call",
      status: "completed",
      action: { type: "search", query: "tides", queries: ["tides"] },
    },
  }),
  file_search_call: (id) => ({
    first: { id, type: "file_search_call", status: "in_progress", queries: [], results: null },
    last: { id, type: "file_search_call", status: "completed", queries: ["tides"], results: null },
  }),
  code_interpreter_call: (id) => {
    const item = { id, type: "code_interpreter_call", container_id: "cntr_1" } as const;
    return {
      first: { ...item, status: "in_progress", code: "", outputs: [] },
      last: { ...item, status: "completed", code: "print(1)", outputs: [{ type: "logs", logs: "1\n" }] },
    };
  },
  image_generation_call: (id) => ({
    first: { id, type: "image_generation_call", status: "in_progress" },
    last: { id, type: "image_generation_call", status: "completed", result: "AAAA", revised_prompt: "A tide" },
  }),
  mcp_list_tools: (id) => ({
    first: { id, type: "mcp_list_tools", server_label: "sea", tools: [] },
    last: {
      id,
      type: "mcp_list_tools",
      server_label: "sea",
      tools: [{ annotations: { read_only: true }, description: "", input_schema: { type: "object" }, name: "tides" }],
    },
  }),
  mcp_call: (id) => {
    const item = { id, type: "mcp_call", approval_request_id: null, name: "tides", server_label: "sea" } as const;
    return {
      first: { ...item, status: "in_progress", arguments: "", error: null, output: null },
      last: { ...item, status: "completed", arguments: '{"at":"Cork"}', error: null, output: "High at noon." },
    };
  },
  mcp_approval_request: (id) => {
    const item = { id, type: "mcp_approval_request", arguments: "{}", name: "tides", server_label: "sea" } as const;
    return { first: item, last: item };
  },
  computer_call: (id) => ({
    first: { id, type: "computer_call", status: "in_progress", call_id: `call_${id}` },
    last: { id, type: "computer_call", status: "completed", call_id: `call_${id}`, actions: [{ type: "screenshot" }] },
  }),
  local_shell_call: (id) => {
    const item = { id, type: "local_shell_call", call_id: `call_${id}` } as const;
    return {
      first: { ...item, status: "in_progress", action: { type: "exec", command: [], env: {} } },
      last: { ...item, status: "completed", action: { type: "exec", command: ["ls"], env: {} } },
    };
  },
  shell_call: (id) => {
    const item = { id, type: "shell_call", call_id: `call_${id}`, environment: null } as const;
    const limits = { max_output_length: null, timeout_ms: null };
    return {
      first: { ...item, status: "in_progress", action: { commands: [], ...limits } },
      last: { ...item, status: "completed", action: { commands: ["ls -l", "pwd"], ...limits } },
    };
  },
  shell_call_output: (id) => {
    const item = { id, type: "shell_call_output", call_id: `call_${id}`, max_output_length: null } as const;
    return {
      first: { ...item, status: "completed", output: [] },
      last: {
        ...item,
        status: "completed",
        output: [
          { stdout: "a\nb\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "", stderr: "no", outcome: { type: "exit", exit_code: 1 } },
        ],
      },
    };
  },
  apply_patch_call: (id) => {
    const item = { id, type: "apply_patch_call", call_id: `call_${id}` } as const;
    return {
      first: { ...item, status: "in_progress", operation: { type: "create_file", path: "a", diff: "" } },
      last: { ...item, status: "completed", operation: { type: "create_file", path: "a", diff: "+a\n" } },
    };
  },
  tool_search_call: (id) => {
    const item = { id, type: "tool_search_call", call_id: null, execution: "server" } as const;
    return {
      first: { ...item, status: "in_progress", arguments: {} },
      last: { ...item, status: "completed", arguments: { paths: ["sea"] } },
    };
  },
  tool_search_output: (id) => {
    const item = { id, type: "tool_search_output", status: "completed", call_id: null, execution: "server" } as const;
    return { first: { ...item, tools: [] }, last: { ...item, tools: [] } };
  },
  program: (id) => {
    const item = { id, type: "program", call_id: "call_1" } as const;
    return { first: { ...item, code: "", fingerprint: "" }, last: { ...item, code: "text(1)", fingerprint: "f" } };
  },
  program_output: (id) => {
    const item = { id, type: "program_output", status: "completed", call_id: "call_1" } as const;
    return { first: { ...item, result: "" }, last: { ...item, result: "1" } };
  },
};
