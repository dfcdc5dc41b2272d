import type { Contract, OperationRoute } from "@antiphon/http-kit/contract.ts";
import type { Handler } from "@antiphon/http-kit/handler.ts";
import type { Caller } from "../responses-api/access/caller.ts";
import { foreignOrigin } from "../responses-api/errors/request-errors.ts";
import type { McpServing } from "./mcp-serving.ts";
import { RunningCalls } from "./running-calls.ts";

const ROUTE: OperationRoute = {
  operationId: "callMcpServer",
  method: "post",
  path: "/mcp",
  secured: true,
  query: {},
  headers: [],
  request: ["application/json"],
  bodyRequired: true,
};

/** The endpoint of the MCP server. The Model Context Protocol, not our contract, describes its messages. */
export const MCP_CONTRACT: Contract = { routes: [ROUTE], bodyValidators: {} };

/**
 * `POST /mcp`: one message of an MCP client, over streamable HTTP. `allowsOrigin`: whether pages of an origin may call;
 * the protocol asks for this check against DNS rebinding.
 */
export function callMcpServer(
  serving: McpServing,
  allowsOrigin: (origin: string) => boolean,
): { readonly callMcpServer: Handler<Caller["principal"]> } {
  const calls = new RunningCalls();
  let loading: ReturnType<typeof loadServer> | null = null;
  return {
    callMcpServer: async ({ body }, context) => {
      const { origin } = context.peer.headers;
      if (origin !== undefined && !allowsOrigin(origin)) throw foreignOrigin();
      const { answerMcp } = await (loading ??= loadServer());
      return await answerMcp(serving, calls, context, body);
    },
  };
}

/** The MCP server takes a quarter of a second to load. */
function loadServer() {
  return import("./answer-mcp.ts");
}
