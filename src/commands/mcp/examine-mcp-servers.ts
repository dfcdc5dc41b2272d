import { silentLogger } from "@antiphon/base/logger.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { Config } from "../../config/load-config.ts";
import { chooseEgress } from "../../servers/choices/choose-egress.ts";
import { mcpOptions } from "../../servers/choices/choose-mcp.ts";
import type { OperatorServer } from "../../tools/mcp/mcp-server.ts";
import { createMcpTool } from "../../tools/mcp/mcp-tool.ts";

/** What came of an attempt to list the tools of a server of the operator. */
export interface McpExamination {
  readonly mcp_server: string;
  /** `unknown`: only a request has the authorization for it. */
  readonly verdict: "works" | "fails" | "unknown";
  /** The names of its tools, as many as its entry allows. */
  readonly tools: readonly string[];
  /** What is wrong, and what would help; null if it works. */
  readonly why: string | null;
  /** How long it took. */
  readonly ms: number;
}

type Connect = ReturnType<typeof createMcpTool>;

const NO_MODEL = { images: false, imageUrls: false, files: false, audioFormats: [] } as const;

/** Connects to every server of `MCP_SERVERS_FILE` and lists its tools, in the order of the file. */
export async function examineMcpServers(config: Config, signal: AbortSignal): Promise<readonly McpExamination[]> {
  const options = mcpOptions(config, chooseEgress(config, silentLogger), silentLogger);
  const servers = options.servers.map((server) => ({ ...server, owners: null }));
  const tool = createMcpTool({ ...options, mode: "operator", servers });
  try {
    return await Promise.all(servers.map((server) => examineOne(tool, server, signal)));
  } finally {
    await tool.close?.();
  }
}

async function examineOne(tool: Connect, server: OperatorServer, signal: AbortSignal): Promise<McpExamination> {
  const startedAt = performance.now();
  const examination = (rest: Pick<McpExamination, "verdict" | "tools" | "why">): McpExamination => ({
    mcp_server: server.label,
    ...rest,
    ms: Math.round(performance.now() - startedAt),
  });
  try {
    const open = await tool.open({ type: "mcp", server_label: server.label }, listingScope(signal));
    await open.close();
    return examination({ verdict: "works", tools: open.functions.map(({ name }) => name), why: null });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const isForwarded = server.forwardsAuthorization && /\b40[13]\b/.test(error.message);
    return examination({ verdict: isForwarded ? "unknown" : "fails", tools: [], why: withCure(error.message, server) });
  }
}

function withCure(message: string, { label, reach, forwardsAuthorization }: OperatorServer): string {
  if (forwardsAuthorization) return `${message} It takes the authorization of each request, and doctor has none.`;
  if (message.includes("antiphon mcp login") || message.includes("MCP_SERVERS_FILE")) return message;
  return reach.type === "program"
    ? `${message} Look at command, args, folder and environment of '${label}' in MCP_SERVERS_FILE.`
    : `${message} Look at url and headers of '${label}' in MCP_SERVERS_FILE, and whether the server runs.`;
}

function listingScope(signal: AbortSignal): Parameters<Connect["open"]>[1] {
  let count = 0;
  return {
    owner: { organization: "doctor", project: "doctor" },
    abilities: NO_MODEL,
    responseId: "doctor",
    continuedId: null,
    include: [],
    context: [],
    approvals: [],
    laterTools: [],
    readsPrivately: false,
    signal,
    newItemId: (prefix) => `${prefix}_${++count}`,
  };
}
