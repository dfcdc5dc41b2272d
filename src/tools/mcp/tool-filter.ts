import type { McpApprovalFilter, McpTool, McpToolFilter } from "../../../generated/responses-api/types.ts";

export type AllowedTools = McpTool["allowed_tools"];
export type RequireApproval = McpTool["require_approval"] | undefined;

/** What the filters of a request look at. */
export interface FilteredTool {
  readonly name: string;
  readonly readOnly: boolean;
}

/** Whether a list of allowed tools, or a filter, lets this tool be offered. Null and an empty filter allow all. */
export function isAllowed(tool: FilteredTool, allowed: AllowedTools | undefined): boolean {
  if (allowed == null) return true;
  if (Array.isArray(allowed)) return allowed.includes(tool.name);
  return fits(tool, allowed);
}

/** Whether a person must approve calls of this tool. What the filters do not mention needs approval. */
export function needsApproval(tool: FilteredTool, required: RequireApproval): boolean {
  if (required == null || required === "always") return true;
  if (required === "never") return false;
  return isMentioned(tool, required, "always") || !isMentioned(tool, required, "never");
}

/** Whether the filter names this tool as one that needs approval. Nothing does so by default. */
export function isHeldBack(tool: FilteredTool, required: RequireApproval): boolean {
  if (required == null || required === "never") return false;
  if (required === "always") return true;
  if (isMentioned(tool, required, "always")) return true;
  return required.never != null && !isMentioned(tool, required, "never");
}

function isMentioned(tool: FilteredTool, required: McpApprovalFilter, side: "always" | "never"): boolean {
  const filter = required[side];
  if (filter == null || (filter.tool_names == null && filter.read_only == null)) return false;
  return fits(tool, filter);
}

function fits({ name, readOnly }: FilteredTool, { tool_names: names, read_only: wanted }: McpToolFilter): boolean {
  if (names != null && !names.includes(name)) return false;
  return wanted == null || wanted === readOnly;
}
