import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Which MCP servers are used, and their time limits. */
export const MCP_SETTINGS = {
  mcp: {
    name: "MCP",
    section: "Tools",
    kind: "choice",
    default: "on",
    choices: ["on", "operator", "off"],
    text: "Which MCP servers requests may use. on: servers in MCP_SERVERS_FILE, and any server that EGRESS allows; operator: only servers in MCP_SERVERS_FILE; off: none.",
  },
  mcpServersFile: {
    name: "MCP_SERVERS_FILE",
    section: "Tools",
    kind: "path",
    default: null,
    text: "YAML file of the operator's own MCP servers, which requests name by their label. docs/operations.md describes it.",
  },
  serveMcp: {
    name: "SERVE_MCP",
    section: "Tools",
    kind: "boolean",
    default: true,
    text: "Serve file search, code, web search and stored responses to MCP clients at /mcp, with the keys and limits of the API.",
  },
  mcpListTimeoutMs: {
    name: "MCP_LIST_TIMEOUT_MS",
    section: "Tools",
    kind: "duration",
    default: 15 * SECOND,
    min: 1,
    max: 10 * MINUTE,
    text: "How long connecting to an MCP server and listing its tools may take.",
  },
  mcpCallTimeoutMs: {
    name: "MCP_CALL_TIMEOUT_MS",
    section: "Tools",
    kind: "duration",
    default: MINUTE,
    min: 1,
    max: 60 * MINUTE,
    text: "How long an MCP server may take for one call. Five times as long if it reports progress.",
  },
  mcpProgramsMax: {
    name: "MCP_PROGRAMS_MAX",
    section: "Tools",
    kind: "integer",
    default: 32,
    min: 1,
    max: 1000,
    text: "Most programs of MCP_SERVERS_FILE that run at the same time. Another one ends the longest unused one, or waits for MCP_LIST_TIMEOUT_MS.",
  },
  mcpProgramIdleMs: {
    name: "MCP_PROGRAM_IDLE_MS",
    section: "Tools",
    kind: "duration",
    default: 5 * MINUTE,
    min: 0,
    max: 24 * 60 * MINUTE,
    text: "How long a program of MCP_SERVERS_FILE keeps its state for the next response of its conversation or chain. 0 starts one for each response.",
  },
  mcpToolsMax: {
    name: "MCP_TOOLS_MAX",
    section: "Tools",
    kind: "integer",
    default: 128,
    min: 1,
    max: 1000,
    text: "Most tools of one MCP server that are offered to a model. A server with more is refused unless allowed_tools of the request selects some.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
