import type { Tool, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolKind } from "@antiphon/domain/hosted-tool.ts";

export const TOOL_KINDS = [
  "web_search",
  "file_search",
  "code_interpreter",
  "computer",
  "mcp",
  "image_generation",
  "shell",
  "local_shell",
  "apply_patch",
  "tool_search",
  "programmatic_tool_calling",
] as const satisfies readonly ToolKind[];

export function isToolKind(text: string): text is ToolKind {
  return TOOL_KINDS.some((kind) => kind === text);
}

/**
 * The kind of a tool, by a `type` of `tools` or of `tool_choice`: several types may have one kind. Null for a client
 * tool, and for types without a tool here.
 */
export function kindOfType(type: string): ToolKind | null {
  switch (type) {
    case "web_search_2025_08_26":
    case "web_search_preview":
    case "web_search_preview_2025_03_11":
      return "web_search";
    case "computer_use":
    case "computer_use_preview":
      return "computer";
    default:
      return isToolKind(type) ? type : null;
  }
}

/** Whether the client runs or provides the tool without this server's help. */
export function isClientTool(tool: Tool | ToolInput): boolean {
  const { type } = tool;
  return (
    type === "function" ||
    type === "custom" ||
    type === "namespace" ||
    (tool.type === "tool_search" && tool.execution === "client")
  );
}

/** Whether the tool names something that no other tool could replace, such as an MCP server or a vector store. */
export function namesItsOwn(tool: ToolInput): boolean {
  switch (tool.type) {
    case "mcp":
    case "file_search":
      return true;
    case "code_interpreter":
      return typeof tool.container === "string";
    case "shell":
      return tool.environment?.type === "container_reference";
    default:
      return false;
  }
}
