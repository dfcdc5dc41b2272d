import type { McpApprovalFilter, McpTool, McpToolFilter } from "../../../generated/responses-api/types.ts";

export type AllowedTools = McpTool["allowed_tools"];
export type RequireApproval = McpTool["require_approval"] | undefined;

/** What the filters of a request look at. */
export interface FilteredTool {
  readonly name: string;
  readonly readOnly: boolean;
}

/** Whether a filter fits a tool. */
export type ToolTest = (tool: FilteredTool) => boolean;

const ALL: ToolTest = () => true;
const NONE: ToolTest = () => false;

/** Whether a list of allowed tools, or a filter, lets a tool be offered. Null and an empty filter allow all. */
export function allowanceOf(allowed: AllowedTools | undefined): ToolTest {
  if (allowed == null) return ALL;
  return testOf(Array.isArray(allowed) ? { tool_names: allowed } : allowed);
}

/** Whether a person must approve calls of a tool. What the filters do not mention needs approval. */
export function approvalNeedOf(required: RequireApproval): ToolTest {
  if (required == null || required === "always") return ALL;
  if (required === "never") return NONE;
  const isHeld = mentionOf(required, "always");
  const isFree = mentionOf(required, "never");
  return (tool) => isHeld(tool) || !isFree(tool);
}

/** Whether the filters name a tool as one that needs approval. Nothing does so by default. */
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

/** Names are looked up in a set: both the list of a server and that of a request may be long. */
function testOf({ tool_names: names, read_only: wanted }: McpToolFilter): ToolTest {
  const known = names == null ? null : new Set(names);
  return ({ name, readOnly }) => (known === null || known.has(name)) && (wanted == null || wanted === readOnly);
}
