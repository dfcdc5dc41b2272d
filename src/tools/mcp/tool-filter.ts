import type { McpApprovalFilter, McpTool, McpToolFilter } from "../../../generated/responses-api/types.ts";

export type AllowedTools = McpTool["allowed_tools"];
export type RequireApproval = McpTool["require_approval"] | undefined;

/** The facts for the filters of a request. */
export interface FilteredTool {
  readonly name: string;
  readonly readOnly: boolean;
}

/** Whether a filter matches a tool. */
export type ToolTest = (tool: FilteredTool) => boolean;

const ALL: ToolTest = () => true;
const NONE: ToolTest = () => false;

/** Whether a list of allowed tools, or a filter, allows a tool. Null and an empty filter allow all. */
export function allowanceOf(allowed: AllowedTools | undefined): ToolTest {
  if (allowed == null) return ALL;
  return testOf(Array.isArray(allowed) ? { tool_names: allowed } : allowed);
}

/** Whether calls of a tool need approval. Tools outside the filters do. */
export function approvalNeedOf(required: RequireApproval): ToolTest {
  if (required == null || required === "always") return ALL;
  if (required === "never") return NONE;
  const isHeld = mentionOf(required, "always");
  const isFree = mentionOf(required, "never");
  return (tool) => isHeld(tool) || !isFree(tool);
}

/** Whether the filters require approval for a tool. By default, none do. */
export function restraintOf(required: RequireApproval): ToolTest {
  if (required == null || required === "never") return NONE;
  if (required === "always") return ALL;
  const isHeld = mentionOf(required, "always");
  if (required.never == null) return isHeld;
  const isFree = mentionOf(required, "never");
  return (tool) => isHeld(tool) || !isFree(tool);
}

function mentionOf(required: McpApprovalFilter, side: "always" | "never"): ToolTest {
  const filter = required[side];
  if (filter == null || (filter.tool_names == null && filter.read_only == null)) return NONE;
  return testOf(filter);
}

/** Names are in a set, because the lists of a server and of a request may both be long. */
function testOf({ tool_names: names, read_only: wanted }: McpToolFilter): ToolTest {
  const known = names == null ? null : new Set(names);
  return ({ name, readOnly }) => (known === null || known.has(name)) && (wanted == null || wanted === readOnly);
}
