import type { Logger } from "@antiphon/base/logger.ts";
import type { CodeFinder } from "@antiphon/domain/containers.ts";
import type { HostedTool, ToolKind } from "@antiphon/domain/hosted-tool.ts";
import { createHostedTools, type HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import { zippedSkills } from "@antiphon/media/skills/zipped-skills.ts";
import type { Config } from "../../config/load-config.ts";
import { isToolKind, TOOL_KINDS } from "../../responses-api/offered-tools/tool-kinds.ts";
import type { Store } from "../../store/open-store.ts";
import { applyPatchTool } from "../../tools/client-run/apply-patch.ts";
import { computerTool } from "../../tools/client-run/computer.ts";
import { localShellTool } from "../../tools/client-run/local-shell.ts";
import { codeInterpreterTool } from "../../tools/code-interpreter/code-interpreter-tool.ts";
import { ImageServer } from "../../tools/image-generation/image-server.ts";
import { imageTool } from "../../tools/image-generation/image-tool.ts";
import { QuickJsPrograms } from "../../tools/programs/program-runtime.ts";
import { programTool } from "../../tools/programs/program-tool.ts";
import { shellTool } from "../../tools/shell/shell-tool.ts";
import { toolSearchTool } from "../../tools/tool-search/tool-search-tool.ts";
import type { Guards } from "./choose-egress.ts";
import { chooseMcp } from "./choose-mcp.ts";
import { chooseWebSearch } from "./choose-web-search.ts";

/**
 * The tools that this server runs, by the settings. Tools in `more` replace configured tools of the same types. Throws
 * `ConfigError` if a tool is misconfigured.
 */
export async function chooseTools(
  config: Config,
  guards: Guards,
  log: Logger,
  more: readonly HostedTool[] = [],
): Promise<HostedTools> {
  return createHostedTools([...(await configuredTools(config, guards, log)), ...more], {
    kinds: offeredKinds(config.tools),
    unavailable: config.toolsUnavailable,
    nodeName: config.nodeName,
    limits: {
      turnsMax: config.toolTurnsMax,
      callsMax: config.toolCallsMax,
      parallelMax: config.toolParallelMax,
      outputCharactersMax: config.toolOutputCharactersMax,
      attemptsMax: config.toolAttemptsMax,
      repeatMs: config.toolRepeatMs,
    },
  });
}

/** All tools of this program; each reports what it lacks. */
async function configuredTools(config: Config, guards: Guards, log: Logger): Promise<readonly HostedTool[]> {
  return [
    await chooseWebSearch(config, guards.egress),
    chooseImages(config, guards.egress),
    chooseMcp(config, guards, log),
    computerTool,
    localShellTool,
    applyPatchTool,
    toolSearchTool,
    programTool(new QuickJsPrograms()),
  ];
}

/** The tools that run code and commands in containers. */
export function codeTools(
  { codeMemoryMax: memoryBytesMax }: Config,
  code: CodeFinder,
  { containers, files: uploads, skills }: Pick<Store, "containers" | "files" | "skills">,
): readonly HostedTool[] {
  const services = { code, containers, uploads, skills: { skills, format: zippedSkills }, memoryBytesMax };
  return [codeInterpreterTool(services), shellTool(services)];
}

function offeredKinds(names: readonly string[]): ReadonlySet<ToolKind> {
  if (names.includes("all")) return new Set(TOOL_KINDS);
  return new Set(names.filter(isToolKind));
}

/** The tool image_generation with the images server of the settings. */
function chooseImages(config: Config, egress: Egress): HostedTool {
  const { imageBaseUrl: baseUrl, imageApiKey, imageModel: model, imageTimeoutMs: timeoutMs } = config;
  if (baseUrl === null) return imageTool(null);
  const apiKey = imageApiKey?.reveal() ?? null;
  return imageTool({ server: new ImageServer({ baseUrl, apiKey, model, timeoutMs }), egress });
}
