import type { ToolChoice } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { callerFault } from "../model-errors.ts";
import { fittingTool } from "./fitting-tool.ts";
import type { ListedTool } from "./offered-tools.ts";

type AllowedTools = Extract<ToolChoice, { type: "allowed_tools" }>;

/** The tool to call, or null. `afterOutputs` says that tools have just returned, so only a forced call is made. */
export function chooseTool(
  choice: ModelRequest["toolChoice"],
  tools: readonly ListedTool[],
  text: string,
  afterOutputs: boolean,
): ListedTool | null {
  if (typeof choice === "string") {
    if (choice === "none" || (choice === "auto" && afterOutputs)) return null;
    const fitting = fittingTool(tools, text);
    if (choice === "auto") return fitting;
    const message = "Tool choice 'required' must be specified with 'tools' parameter.";
    if (tools[0] === undefined) throw callerFault(message, "tool_choice");
    return fitting ?? tools[0];
  }
  switch (choice.type) {
    case "function":
    case "custom":
    case "hosted_function":
      return namedTools(choice, Map.groupBy(tools, choiceKey))[0] ?? null;
    case "allowed_tools":
      return chooseTool(choice.mode, allowedTools(choice, tools), text, afterOutputs);
    default: {
      const message = `Tool choice '${choice.type}' is not available with the built-in engine.`;
      throw callerFault(message, "tool_choice", "unsupported_parameter");
    }
  }
}

/** What a choice names a tool by. */
interface ToolName {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly server?: unknown;
}

function namedTools(named: ToolName, tools: ReadonlyMap<string, readonly ListedTool[]>): readonly ListedTool[] {
  const found = tools.get(nameKey(named));
  if (found !== undefined) return found;
  const name = typeof named.name === "string" ? named.name : String(named.type);
  throw callerFault(`Tool choice '${name}' not found in 'tools' parameter.`, "tool_choice");
}

function nameKey({ type, name, server }: ToolName): string {
  return JSON.stringify(type === "hosted_function" ? [type, server ?? null, name] : [type, name]);
}

function choiceKey({ kind, name, namespace }: ListedTool): string {
  return nameKey(kind === "hosted" ? { type: "hosted_function", name, server: namespace } : { type: kind, name });
}

/** Entries name a tool by type and name; a namespace means all its tools. */
function allowedTools(choice: AllowedTools, tools: readonly ListedTool[]): ListedTool[] {
  const spaces = tools.filter(({ kind, namespace }) => kind !== "hosted" && namespace !== null);
  const toolsByKey = new Map([
    ...Map.groupBy(tools, choiceKey),
    ...Map.groupBy(spaces, ({ namespace }) => nameKey({ type: "namespace", name: namespace })),
  ]);
  // A namespace may be named many times.
  const result = new Set(choice.tools.map((entry) => namedTools(entry, toolsByKey)));
  return [...new Set([...result].flat())];
}
