import { HAS_BUBBLEWRAP } from "../../tests/tools/code-engines.ts";
import { WEATHER } from "./example-events.fixture.ts";
import { TIDE_STORE, TOOL_SERVERS } from "./tool-servers.fixture.ts";

const MCP = { type: "mcp", server_label: "weather", server_url: `${TOOL_SERVERS}/mcp`, require_approval: "never" };
const PREVIEW = { type: "computer_use_preview", display_width: 800, display_height: 600, environment: "browser" };

/** Requests in which the model calls a tool of the server; `message-scenes.fixture.ts` plays the model. */
export const TOOL_RECIPES = {
  "a model that searches the web": asks("search the web", { type: "web_search" }),
  "a model that searches files": asks("files", { type: "file_search", vector_store_ids: [TIDE_STORE] }),
  "a model that lists the tools of an MCP server": asks("none", MCP),
  "an MCP server that lists no tools": {
    request: { input: "Hi", tools: [{ ...MCP, server_url: `${TOOL_SERVERS}/no-mcp` }], background: true },
  },
  "a model that calls a tool of an MCP server": asks("weather", MCP),
  "a tool of an MCP server that fails": asks("storms", MCP),
  "a call of an MCP server that needs approval": asks("weather", { ...MCP, require_approval: "always" }),
  "a model that draws": asks("draw", { type: "image_generation", partial_images: 1 }),
  "a model that runs code": {
    request: {
      input: "Please use a tool: python",
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      include: ["code_interpreter_call.outputs"],
    },
  },
  "a shell in a container": asks("commands", { type: "shell", environment: { type: "container_auto" } }),
  "a model that uses a shell": asks("shell", { type: "shell", environment: { type: "local" } }),
  "a model that uses the older shell": asks("local shell", { type: "local_shell" }),
  "a model that patches files": asks("patch", { type: "apply_patch" }),
  "a model that uses a computer": asks("preview of a computer", PREVIEW),
  "a model that does several things at a computer": asks("computer", { type: "computer" }),
  "a model whose tools the server searches": asks(
    "find tools",
    { type: "tool_search" },
    { ...WEATHER, defer_loading: true },
  ),
};

function asks(what: string, ...tools: readonly object[]) {
  return { request: { input: `Please use a tool: ${what}`, tools } };
}

/** The program that a situation needs and that this machine lacks. */
export function lackingProgram(state: string): string | undefined {
  return state === "a shell in a container" && !HAS_BUBBLEWRAP ? "needs bubblewrap" : undefined;
}
