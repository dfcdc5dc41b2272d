import type { Logger } from "../../base/logger.ts";
import type { Config } from "../../config/load-config.ts";
import { type McpServerEntry, readMcpServers } from "../../config/mcp-servers-file.ts";
import { createEgress, type Egress } from "../../egress/egress.ts";
import type { HostedTool } from "../../responses-api/hosted-tool.ts";
import type { OperatorServer } from "../../tools/mcp/mcp-server.ts";
import { createMcpTool } from "../../tools/mcp/mcp-tool.ts";
import { programVersion } from "../../version/program-version.ts";

const CONNECT_TIMEOUT_MS = 10_000;

/** The tool mcp. Throws `ConfigError` if the file of the operator's servers cannot be used. */
export function chooseMcp(config: Config, egress: Egress, log: Logger): HostedTool {
  return createMcpTool({
    mode: config.mcp,
    servers: readMcpServers(config.mcpServersFile).map(operatorServer),
    egress,
    operatorEgress: openForOperator(log),
    listTimeoutMs: config.mcpListTimeoutMs,
    callTimeoutMs: config.mcpCallTimeoutMs,
    toolsMax: config.mcpToolsMax,
    outputCharactersMax: config.toolOutputCharactersMax,
    version: programVersion(),
    log,
  });
}

/** The operator may name any address; redirects are refused there too. */
function openForOperator(log: Logger): Egress {
  return createEgress({
    policy: { mode: "public", allow: ["0.0.0.0/0", "::/0"], deny: [], ports: [] },
    timeouts: { connectMs: CONNECT_TIMEOUT_MS, idleMs: CONNECT_TIMEOUT_MS, totalMs: CONNECT_TIMEOUT_MS },
    log,
  });
}

function operatorServer(entry: McpServerEntry): OperatorServer {
  const { label, url, headers, command, args, folder, environment, ...rest } = entry;
  const reach =
    url !== null
      ? ({ type: "url", url, headers } as const)
      : ({ type: "program", command: command ?? "", args, folder, environment } as const);
  return { label, reach, ...rest };
}
