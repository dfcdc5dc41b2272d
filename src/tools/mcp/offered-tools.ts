import type { McpListedTool, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { isResourceTool, RESOURCE_TOOL } from "./resources/resource-tool.ts";

/** A tool that a response may call. */
export interface OfferedMcpTool {
  readonly definition: McpListedTool;
  readonly readOnly: boolean;
  /** Whether the server or the operator declares that repeating a call has no further effect. */
  readonly idempotent: boolean;
  /** Whether it is our function for the server's resources, and no tool of the server. */
  readonly readsResources: boolean;
}

export const RESOURCE_OFFER: OfferedMcpTool = {
  definition: RESOURCE_TOOL,
  readOnly: true,
  idempotent: false,
  readsResources: true,
};

/** The facts for filters. */
export function traitsOf({ definition, readOnly }: OfferedMcpTool) {
  return { name: definition.name, readOnly };
}

/** What a server offers. */
export interface ServerList {
  readonly tools: readonly OfferedMcpTool[];
  /** What it says about their use; null if it says nothing. */
  readonly instructions: string | null;
}

/** A list with the id of its item. */
export interface ListedServer extends ServerList {
  readonly id: string;
}

/** The newest usable list of this server in a context; null if there is none. */
export function listInContext(context: readonly StoredItem[], label: string): ListedServer | null {
  const listing = context.findLast((item) => item.type === "mcp_list_tools" && item.server_label === label);
  if (listing?.type !== "mcp_list_tools" || listing.error != null || listing.tools.length === 0) return null;
  const tools = listing.tools.map((definition) => ({
    definition,
    readOnly: definition.annotations?.read_only === true,
    idempotent: definition.annotations?.["idempotent"] === true,
    readsResources: isResourceTool(definition),
  }));
  return { id: listing.id, tools, instructions: listing.instructions ?? null };
}
