import type { Config } from "../../config/load-config.ts";
import type { HostedTool, ToolKind } from "../../responses-api/hosted-tool.ts";
import { createHostedTools, type HostedTools } from "../../responses-api/tool-loop/hosted-tools.ts";
import { isToolKind, TOOL_KINDS } from "../../responses-api/tool-loop/tool-kinds.ts";
import { applyPatchTool } from "../../tools/client-run/apply-patch.ts";
import { computerTool } from "../../tools/client-run/computer.ts";
import { localShellTool } from "../../tools/client-run/local-shell.ts";
import { shellTool } from "../../tools/client-run/shell.ts";

/** The tools that this server runs, by the settings. `more` are added to those that the settings give. */
export function chooseTools(config: Config, more: readonly HostedTool[] = []): HostedTools {
  return createHostedTools([...configuredTools(config), ...more], {
    kinds: offeredKinds(config.tools),
    unavailable: config.toolsUnavailable,
    limits: {
      turnsMax: config.toolTurnsMax,
      callsMax: config.toolCallsMax,
      parallelMax: config.toolParallelMax,
      outputCharactersMax: config.toolOutputCharactersMax,
    },
  });
}

/** The tools that this server can run as it is configured. */
function configuredTools(_config: Config): readonly HostedTool[] {
  return [computerTool, shellTool, localShellTool, applyPatchTool];
}

function offeredKinds(listed: readonly string[]): ReadonlySet<ToolKind> {
  if (listed.includes("all")) return new Set(TOOL_KINDS);
  return new Set(listed.filter(isToolKind));
}
