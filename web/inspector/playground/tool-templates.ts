import type { Members } from "../base/members.ts";

export interface ToolTemplate {
  readonly name: string;
  readonly says: string;
  readonly tool: Members & { readonly type: string };
}

/** A tool of every kind to begin with. */
export const TOOL_TEMPLATES: readonly ToolTemplate[] = [
  {
    name: "Function",
    says: "You answer its calls here.",
    tool: {
      type: "function",
      name: "get_weather",
      description: "Get the weather of a city.",
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
      strict: true,
    },
  },
  {
    name: "Custom tool",
    says: "Takes free text. You answer its calls here.",
    tool: { type: "custom", name: "run_query", description: "Run a query of the database." },
  },
  {
    name: "MCP server",
    says: "The server calls its tools. Approvals are asked here.",
    tool: { type: "mcp", server_label: "my_server", server_url: "https://example.com/mcp", require_approval: "always" },
  },
  { name: "Web search", says: "Needs a search server.", tool: { type: "web_search" } },
  {
    name: "File search",
    says: "Searches vector stores.",
    tool: { type: "file_search", vector_store_ids: ["vs_…"] },
  },
  {
    name: "Code interpreter",
    says: "Runs Python in a container.",
    tool: { type: "code_interpreter", container: { type: "auto" } },
  },
  {
    name: "Shell",
    says: "Runs commands in a container.",
    tool: { type: "shell", environment: { type: "container_auto" } },
  },
  { name: "Image generation", says: "Needs an images server.", tool: { type: "image_generation" } },
  { name: "Local shell", says: "You answer its calls here.", tool: { type: "local_shell" } },
  { name: "Patches", says: "You answer its calls here.", tool: { type: "apply_patch" } },
  {
    name: "Computer",
    says: "You answer its calls here.",
    tool: { type: "computer_use_preview", display_width: 1024, display_height: 768, environment: "browser" },
  },
  { name: "Tool search", says: "Finds tools that are loaded later.", tool: { type: "tool_search" } },
  {
    name: "Namespace",
    says: "Functions under one name.",
    tool: {
      type: "namespace",
      name: "calendar",
      description: "Appointments.",
      tools: [{ type: "function", name: "list_events", parameters: { type: "object", properties: {} } }],
    },
  },
];
