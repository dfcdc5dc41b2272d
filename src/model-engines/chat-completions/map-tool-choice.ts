import type { ToolChoice } from "../../../generated/responses-api/types.ts";
import type { ChatTool, ChatToolChoice } from "./chat-wire.ts";
import { textOrNull } from "./json-values.ts";
import { invalidInput, unsupportedParameter } from "./model-errors.ts";
import { flatName } from "./tool-names.ts";

export interface ChosenTools {
  readonly tools: readonly ChatTool[];
  readonly choice: ChatToolChoice;
}

/** `allowed_tools` has no counterpart that all servers know: the other tools are left out of the request. */
export function mapToolChoice(choice: ToolChoice, tools: readonly ChatTool[]): ChosenTools {
  if (typeof choice === "string") return { tools, choice };
  switch (choice.type) {
    case "function":
    case "custom": {
      const name = flatName(null, choice.name);
      requireTool(tools, name, choice.name);
      return { tools, choice: { type: "function", function: { name } } };
    }
    case "allowed_tools": {
      const names = new Set(choice.tools.map((entry) => allowedName(entry, tools)));
      return { tools: tools.filter((tool) => names.has(tool.function.name)), choice: choice.mode };
    }
    default:
      throw unsupportedParameter("tool_choice", `Tool choice '${choice.type}' is not available with this model server.`);
  }
}

function allowedName(entry: Readonly<Record<string, unknown>>, tools: readonly ChatTool[]): string {
  const shown = textOrNull(entry["name"]) ?? textOrNull(entry["server_label"]) ?? String(entry["type"]);
  const name = flatName(textOrNull(entry["namespace"]), shown);
  requireTool(tools, name, shown);
  return name;
}

function requireTool(tools: readonly ChatTool[], name: string, shown: string): void {
  if (tools.some((tool) => tool.function.name === name)) return;
  throw invalidInput(`Tool choice '${shown}' not found in 'tools' parameter.`, "tool_choice");
}
