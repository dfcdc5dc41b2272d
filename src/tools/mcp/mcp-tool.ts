import { assert } from "@antiphon/base/assert.ts";
import type { HostedTool, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { mcpRefusal } from "./check-mcp-tool.ts";
import { type McpInput, type McpOptions, type McpServer, operatorServerOf, serverOf } from "./mcp-server.ts";
import { listInContext } from "./offered-tools.ts";
import type { ConnectionPools } from "./open-server.ts";
import type { Opening } from "./server-tools.ts";

/** The tools of MCP servers: servers that requests name by URL, and the operator's servers. */
export function createMcpTool(options: McpOptions): HostedTool {
  let loading: ReturnType<typeof loadClient> | null = null;
  let pools: ConnectionPools | null = null;
  return {
    kind: "mcp",
    types: ["mcp"],
    refusal: (tool, { owner }) => (tool.type === "mcp" ? mcpRefusal(tool, options, owner) : null),
    withDefaults: (tool, { owner }) => (tool.type === "mcp" ? withOperatorsDefaults(tool, options, owner) : tool),
    async open(tool, scope) {
      assert(tool.type === "mcp", "only mcp tools are opened here");
      const server = serverOf(options, tool, scope.owner);
      assert(server !== null, "the server of a tool that was not refused is known");
      const opening = openingOf(server, { tool, scope, options });
      const { openServer, openPools } = await (loading ??= loadClient());
      pools ??= openPools(options);
      return await openServer(pools, opening);
    },
    close: async () => await pools?.close(),
  };
}

/** The MCP client takes a quarter of a second to load. Even a repeated import costs time. */
function loadClient() {
  return import("./open-server.ts");
}

/** The operator's rules of approvals and of questions are the defaults for requests. */
function withOperatorsDefaults(tool: McpInput, options: McpOptions, owner: Owner): McpInput {
  const server = operatorServerOf(options, tool, owner);
  const approval = tool.require_approval ?? server?.requireApproval ?? null;
  const asksUser = tool.elicitation == null && server?.elicitation === "ask";
  return {
    ...tool,
    ...(approval === null ? {} : { require_approval: approval }),
    ...(asksUser ? { elicitation: "ask" } : {}),
  };
}

/** Ids are created before any wait, so that a restarted run gets the same ones. */
function openingOf(
  server: McpServer,
  request: { readonly tool: McpInput; readonly scope: ToolScope; readonly options: McpOptions },
): Opening {
  const { scope } = request;
  const own = scope.approvals.filter(({ serverLabel }) => serverLabel === server.label);
  const approvedCalls = own.map((call) => ({ ...call, itemId: scope.newItemId("mcp") }));
  const known = mayReuse(server) ? listInContext(scope.context, server.label) : null;
  return {
    ...request,
    server,
    approvedCalls,
    known,
    listId: scope.newItemId("mcpl"),
  };
}

/** A client can send its own list. Facts for the operator's filters are therefore fetched again. */
function mayReuse({ limits }: McpServer): boolean {
  return limits === null || !JSON.stringify([limits.allowedTools, limits.requireApproval]).includes("read_only");
}
