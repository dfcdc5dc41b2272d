import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, ToolKind } from "./hosted-tool.ts";

/** The limits of the tool loop for one response. */
export interface ToolLimits {
  /** The maximum number of turns of the model. */
  readonly turnsMax: number;
  readonly callsMax: number;
  readonly parallelMax: number;
  /** The maximum number of characters of one output that the model gets. */
  readonly outputCharactersMax: number;
  /** How often a call of an idempotent tool is made while its outcome is unknown, the first time included. */
  readonly attemptsMax: number;
  /** The pause before the second attempt, in milliseconds. Each further pause is four times as long, up to a minute. */
  readonly repeatMs: number;
}

/** The tools of this server, as configured by the operator. */
export interface HostedTools {
  readonly limits: ToolLimits;
  /** How to treat unavailable tools that the request does not depend on. */
  readonly unavailable: "omit" | "refuse";
  /** The name of this server among several. */
  readonly nodeName: string;
  /** Whether the operator offers this kind. */
  isOffered(kind: ToolKind): boolean;
  /** The tool that implements this type of `tools[]`; null if none does. */
  find(type: ToolInput["type"]): HostedTool | null;
  /** Closes resources that tools keep between responses. Never rejects. */
  close(): Promise<void>;
}

/** `kinds`: the kinds that the operator offers. */
export function createHostedTools(
  tools: readonly HostedTool[],
  {
    kinds,
    ...rest
  }: Pick<HostedTools, "limits" | "unavailable" | "nodeName"> & { readonly kinds: ReadonlySet<ToolKind> },
): HostedTools {
  const byType = new Map(tools.flatMap((tool) => tool.types.map((type) => [type, tool] as const)));
  return {
    ...rest,
    isOffered: (kind) => kinds.has(kind),
    find: (type) => byType.get(type) ?? null,
    close: async () => void (await Promise.allSettled(tools.map(async (tool) => await tool.close?.()))),
  };
}
