import type { CodeInterpreterTool, ShellTool } from "@antiphon/contracts/responses-api/types.ts";
import { refusedMember } from "@antiphon/domain/containers.ts";
import type { ToolRefusal } from "@antiphon/domain/hosted-tool.ts";
import type { CodeServices } from "./code-services.ts";

export type AskedContainer =
  | Exclude<CodeInterpreterTool["container"], string>
  | Extract<ShellTool["environment"], { type: "container_auto" | "container_reference" }>;

/** Why a tool cannot have its container; null if it can. A text is the id of a container. */
export function refusalOfContainer(
  services: CodeServices,
  {
    container,
    member,
    callers,
  }: {
    readonly container: string | AskedContainer;
    /** The tool's member for the container. */
    readonly member: string;
    readonly callers: CodeInterpreterTool["allowed_callers"];
  },
): ToolRefusal | null {
  if (callers?.includes("programmatic") === true)
    return neededRefusal(
      "Programs of this server call functions, custom tools and MCP servers, not containers.",
      "allowed_callers",
    );
  const isNamed = typeof container === "string" || container.type === "container_reference";
  const reason = services.code.offer?.reason ?? null;
  if (reason !== null) return { reason, member: null, grade: isNamed ? "needed" : "unavailable" };
  if (typeof container === "string" || container.type === "container_reference") return null;
  const refusal = refusedMember(container, services.memoryBytesMax);
  return refusal === null ? null : neededRefusal(refusal.reason, `${member}.${refusal.member}`);
}

function neededRefusal(reason: string, member: string): ToolRefusal {
  return { reason, member, grade: "needed" };
}
