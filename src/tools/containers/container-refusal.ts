import type { CodeInterpreterTool, ShellTool } from "../../../generated/responses-api/types.ts";
import type { ToolRefusal } from "../../responses-api/hosted-tool.ts";
import type { CodeServices } from "./code-services.ts";

const GIBIBYTE = 1024 ** 3;

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
    /** The member of the tool that holds the container. */
    readonly member: string;
    readonly callers: CodeInterpreterTool["allowed_callers"];
  },
): ToolRefusal | null {
  if (callers?.includes("programmatic") === true)
    return needed("Programs that call tools are not part of this server.", "allowed_callers");
  const isNamed = typeof container === "string" || container.type === "container_reference";
  const reason = services.code.known?.reason ?? null;
  if (reason !== null) return { reason, member: null, grade: isNamed ? "needed" : "unavailable" };
  if (typeof container === "string" || container.type === "container_reference") return null;
  return refusalOfNew(services, container, member);
}

function refusalOfNew(
  { memoryBytesMax }: CodeServices,
  container: Exclude<AskedContainer, { type: "container_reference" }>,
  member: string,
): ToolRefusal | null {
  if (container.network_policy?.type === "allowlist")
    return needed("Containers have no network here. Use the type 'disabled'.", `${member}.network_policy`);
  if ("skills" in container && (container.skills ?? []).length > 0)
    return needed("Containers have no skills here.", `${member}.skills`);
  const limit = container.memory_limit;
  if (limit == null || Number.parseInt(limit, 10) * GIBIBYTE <= memoryBytesMax) return null;
  return needed(
    `A container has at most ${memoryBytesMax} bytes of memory here, and '${limit}' is more. CODE_MEMORY_MAX sets that limit.`,
    `${member}.memory_limit`,
  );
}

function needed(reason: string, member: string): ToolRefusal {
  return { reason, member, grade: "needed" };
}
