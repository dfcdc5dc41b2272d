import type { ExampleEvent } from "./example-events.fixture.ts";
import {
  COMPACTING,
  COMPUTER_EVENTS,
  FILE_SEARCH_EVENTS,
  IMAGE_EVENTS,
  INTERPRETER_EVENTS,
  KEEPALIVE,
  MCP_APPROVAL_EVENTS,
  MCP_CALL_EVENTS,
  MCP_CALL_FAILURE,
  MCP_LIST_EVENTS,
  MCP_LIST_FAILURE,
  PATCH_EVENTS,
  SHELL_EVENTS,
  SHELL_OUTPUT_EVENTS,
  WEB_SEARCH_EVENTS,
} from "./hosted-tool-events.fixture.ts";

export interface PendingSituation {
  readonly reason: string;
  /** A tool of the request. The server refuses it while the situation is pending. */
  readonly tool?: Readonly<Record<string, unknown>>;
  readonly events: readonly ExampleEvent[];
}

const NO_MCP = "our server calls no MCP server yet";
const MCP = { type: "mcp", server_label: "weather", server_url: "https://example.com/mcp", require_approval: "never" };
const NO_SHELL = "our engines offer no shell yet";
const SHELL = { type: "shell", environment: { type: "local" } };

/**
 * Events that clients can read and our server does not send. A test fails once the server accepts the tool or sends
 * such an event.
 */
export const PENDING_SITUATIONS: Readonly<Record<string, PendingSituation>> = {
  "a model that searches the web": {
    reason: "our server has no web_search yet",
    tool: { type: "web_search" },
    events: WEB_SEARCH_EVENTS,
  },
  "a model that searches files": {
    reason: "our server has no file_search yet",
    tool: { type: "file_search", vector_store_ids: ["vs_example"] },
    events: FILE_SEARCH_EVENTS,
  },
  "a model that runs code": {
    reason: "our server has no code_interpreter yet",
    tool: { type: "code_interpreter", container: { type: "auto" } },
    events: INTERPRETER_EVENTS,
  },
  "a model that lists the tools of an MCP server": { reason: NO_MCP, tool: MCP, events: MCP_LIST_EVENTS },
  "an MCP server that lists no tools": { reason: NO_MCP, tool: MCP, events: MCP_LIST_FAILURE },
  "a model that calls a tool of an MCP server": { reason: NO_MCP, tool: MCP, events: MCP_CALL_EVENTS },
  "a tool of an MCP server that fails": { reason: NO_MCP, tool: MCP, events: MCP_CALL_FAILURE },
  "a call of an MCP server that needs approval": {
    reason: NO_MCP,
    tool: { ...MCP, require_approval: "always" },
    events: MCP_APPROVAL_EVENTS,
  },
  "a model that draws": {
    reason: "our server has no image_generation yet",
    tool: { type: "image_generation" },
    events: IMAGE_EVENTS,
  },
  "a model that uses a shell": { reason: NO_SHELL, tool: SHELL, events: SHELL_EVENTS },
  "a shell in a container": {
    reason: NO_SHELL,
    tool: { type: "shell", environment: { type: "container_auto" } },
    events: SHELL_OUTPUT_EVENTS,
  },
  "a model that patches files": {
    reason: "our engines offer no apply_patch yet",
    tool: { type: "apply_patch" },
    events: PATCH_EVENTS,
  },
  "a model that uses a computer": {
    reason: "our engines offer no computer yet",
    tool: { type: "computer_use_preview", display_width: 800, display_height: 600, environment: "browser" },
    events: COMPUTER_EVENTS,
  },
  "a conversation that is being compacted": {
    reason: "known from the official package only; our compaction is told by its item",
    events: COMPACTING,
  },
  "a stream in which nothing happens": {
    reason: "our server sends comment lines in place of this event",
    events: KEEPALIVE,
  },
};
