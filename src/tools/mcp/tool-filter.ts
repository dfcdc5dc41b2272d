import type { McpApprovalFilter, McpTool, McpToolFilter } from "@antiphon/contracts/responses-api/types.ts";

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
export function allowanceOf(allowance: AllowedTools | undefined): ToolTest {
  if (allowance == null) return ALL;
  return testOf(Array.isArray(allowance) ? { tool_names: allowance } : allowance);
}

/** Whether calls of a tool need approval. Tools outside the filters do. */
export function approvalNeedOf(requirement: RequireApproval): ToolTest {
  if (requirement == null || requirement === "always") return ALL;
  if (requirement === "never") return NONE;
  const isHeld = mentionOf(requirement, "always");
  const isFree = mentionOf(requirement, "never");
  return (tool) => isHeld(tool) || !isFree(tool);
}

/** Whether the filters require approval for a tool. By default, none do. */
export function restraintOf(requirement: RequireApproval): ToolTest {
  if (requirement == null || requirement === "never") return NONE;
  if (requirement === "always") return ALL;
  const isHeld = mentionOf(requirement, "always");
  if (requirement.never == null) return isHeld;
  const isFree = mentionOf(requirement, "never");
  return (tool) => isHeld(tool) || !isFree(tool);
}

function mentionOf(requirement: McpApprovalFilter, side: "always" | "never"): ToolTest {
  const filter = requirement[side];
  if (filter == null || (filter.tool_names == null && filter.read_only == null)) return NONE;
  return testOf(filter);
}

/** Names are in a set, because the lists of a server and of a request may both be long. */
function testOf({ tool_names: names, read_only: readOnlyRule }: McpToolFilter): ToolTest {
  const nameSet = names == null ? null : new Set(names);
  return ({ name, readOnly }) =>
    (nameSet === null || nameSet.has(name)) && (readOnlyRule == null || readOnlyRule === readOnly);
}
