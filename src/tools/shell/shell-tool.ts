import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, ToolRefusal } from "@antiphon/domain/hosted-tool.ts";
import { localEnvironmentShell } from "../client-run/shell.ts";
import type { CodeServices } from "../containers/code-services.ts";
import { refusalOfContainer } from "../containers/container-refusal.ts";
import { type ContainerEnvironment, NO_SHELL, openContainerShell } from "./container-shell.ts";

/** The tool `shell`: the client runs the commands, or a container of this server does. */
export function shellTool(services: CodeServices): HostedTool {
  return {
    ...localEnvironmentShell,
    refusal: (tool, user) => {
      const environment = containerIn(tool);
      return environment === null ? localEnvironmentShell.refusal(tool, user) : refusalFor(services, tool, environment);
    },
    open: async (tool, scope) => {
      const environment = containerIn(tool);
      if (environment === null) return await localEnvironmentShell.open(tool, scope);
      return await openContainerShell(services, environment, scope);
    },
  };
}

function containerIn(tool: ToolInput): ContainerEnvironment | null {
  if (tool.type !== "shell" || tool.environment == null || tool.environment.type === "local") return null;
  return tool.environment;
}

function refusalFor(services: CodeServices, tool: ToolInput, container: ContainerEnvironment): ToolRefusal | null {
  const callers = tool.type === "shell" ? tool.allowed_callers : null;
  const refusal = refusalOfContainer(services, { container, member: "environment", callers });
  const sessions = services.code.offer?.sessions ?? null;
  if (refusal !== null || sessions === null || sessions.abilities.hasShell) return refusal;
  const grade = container.type === "container_reference" ? "needed" : "unavailable";
  return { reason: NO_SHELL, member: "environment", grade };
}
