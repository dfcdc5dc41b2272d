import { textAt } from "../base/members.ts";
import type { ShownItem } from "./fold-events.ts";

const ROLES: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  developer: "Developer",
};

const TITLES: Readonly<Record<string, string>> = {
  reasoning: "Reasoning",
  compaction: "Compaction",
  web_search_call: "Web search",
  file_search_call: "File search",
  code_interpreter_call: "Code interpreter",
  image_generation_call: "Image generation",
  computer_call: "Computer",
  computer_call_output: "Computer output",
  shell_call: "Shell",
  shell_call_output: "Shell output",
  local_shell_call: "Local shell",
  local_shell_call_output: "Local shell output",
  apply_patch_call: "Patch",
  apply_patch_call_output: "Patch output",
  mcp_list_tools: "MCP tools",
  mcp_approval_request: "Approval asked",
  mcp_approval_response: "Approval",
  tool_search_call: "Tool search",
  tool_search_output: "Tools found",
  function_call_output: "Function output",
  custom_tool_call_output: "Tool output",
  item_reference: "Reference to an item",
};

/** What an item is called on the page. */
export function itemTitle(item: ShownItem): string {
  const name = textAt(item, "name");
  if (item.type === "message") return ROLES[textAt(item, "role")] ?? "Message";
  if (item.type === "function_call") return `Function ${name}`;
  if (item.type === "custom_tool_call") return `Tool ${name}`;
  if (item.type === "mcp_call") return `MCP ${textAt(item, "server_label")} · ${name}`;
  const title = TITLES[item.type];
  if (title !== undefined && item.type.startsWith("mcp_"))
    return `${title} · ${textAt(item, "server_label") || name}`.replace(/ · $/, "");
  return title ?? item.type.replaceAll("_", " ");
}

/** Whether the item is a call of a tool, or what a tool answered. */
export function isToolItem({ type }: ShownItem): boolean {
  return /_call(_output)?$|^mcp_|^tool_search/.test(type);
}

/** Whether the item is a call of a tool. */
export function isToolCall({ type }: ShownItem): boolean {
  return /_call$|^mcp_list_tools$|^mcp_approval_request$/.test(type);
}
