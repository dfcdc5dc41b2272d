import { join } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { Config } from "../../config/load-config.ts";
import { type McpServerEntry, readMcpServers } from "../../config/mcp-servers-file.ts";
import type { McpOptions, OperatorServer } from "../../tools/mcp/mcp-server.ts";
import { createMcpTool } from "../../tools/mcp/mcp-tool.ts";
import { programVersion } from "../../version/program-version.ts";
import type { Guards } from "./choose-egress.ts";

/** The MCP tool. Throws `ConfigError` if the operator's file of servers is unusable. */
export function chooseMcp(config: Config, guards: Guards, log: Logger): HostedTool {
  return createMcpTool(mcpOptions(config, guards, log));
}

/** As `chooseMcp`. */
export function mcpOptions(config: Config, guards: Guards, log: Logger): McpOptions {
  return {
    mode: config.mcp,
    servers: readMcpServers(config.mcpServersFile).map(operatorServer),
    ...guards,
    loginsFolder: mcpLoginsFolder(config),
    listTimeoutMs: config.mcpListTimeoutMs,
    callTimeoutMs: config.mcpCallTimeoutMs,
    programsMax: config.mcpProgramsMax,
    programIdleMs: config.mcpProgramIdleMs,
    toolsMax: config.mcpToolsMax,
    outputCharactersMax: config.toolOutputCharactersMax,
    version: programVersion(),
    isOnlyProcess: config.processes === 1 && config.databaseUrl === null,
    log,
  };
}

/** Where logins at the operator's MCP servers are kept. */
export function mcpLoginsFolder({ dataDir }: Pick<Config, "dataDir">): string {
  return join(dataDir, "mcp-logins");
}

function operatorServer(entry: McpServerEntry): OperatorServer {
  const { label, url, headers, command, args, folder, environment, ...rest } = entry;
  const reach =
    url !== null
      ? ({ type: "url", url, headers } as const)
      : ({ type: "program", command: command ?? "", args, folder, environment } as const);
  return { label, reach, ...rest };
}
