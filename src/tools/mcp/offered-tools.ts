import type { McpListedTool, StoredItem } from "../../../generated/responses-api/types.ts";

/** A tool that a response may call. */
export interface OfferedMcpTool {
  readonly listed: McpListedTool;
  readonly readOnly: boolean;
  /** Whether the server declares that repeating a call has no further effect. */
  readonly idempotent: boolean;
}

/** The newest usable list of this server in a context; null if there is none. */
export function listInContext(context: readonly StoredItem[], label: string): readonly OfferedMcpTool[] | null {
  const found = context.findLast((item) => item.type === "mcp_list_tools" && item.server_label === label);
  if (found?.type !== "mcp_list_tools" || found.error != null || found.tools.length === 0) return null;
  return found.tools.map((listed) => ({
    listed,
    readOnly: listed.annotations?.read_only === true,
    idempotent: listed.annotations?.["idempotent"] === true,
  }));
}
