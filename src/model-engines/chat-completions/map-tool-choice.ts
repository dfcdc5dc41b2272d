import type { ToolChoice } from "../../../generated/responses-api/types.ts";
import type { ChatTool, ChatToolChoice } from "./chat-wire.ts";
import { textOrNull } from "./json-values.ts";
import { invalidInput, unsupportedParameter } from "./model-errors.ts";
import type { CalledTool, ToolNames } from "./tool-names.ts";

export interface ChosenTools {
  readonly tools: readonly ChatTool[];
  readonly choice: ChatToolChoice;
}

/** `allowed_tools` has no counterpart that all servers know: the other tools are left out of the request. */
export function mapToolChoice(choice: ToolChoice, tools: readonly ChatTool[], names: ToolNames): ChosenTools {
  if (typeof choice === "string") return { tools, choice };
  switch (choice.type) {
    case "function":
    case "custom": {
      const [name] = findTools({ type: choice.type, name: choice.name }, tools, names);
      return { tools, choice: { type: "function", function: { name: name ?? choice.name } } };
    }
    case "allowed_tools": {
      const allowed = new Set(choice.tools.flatMap((entry) => findTools(entry, tools, names)));
      return { tools: tools.filter((tool) => allowed.has(tool.function.name)), choice: choice.mode };
    }
    default:
      throw unsupportedParameter(
        "tool_choice",
        `Tool choice '${choice.type}' is not available with this model server.`,
      );
  }
}

/** The flat names of the tools that an entry means: one function or custom tool, or all of a namespace. Never none. */
function findTools(
  entry: Readonly<Record<string, unknown>>,
  tools: readonly ChatTool[],
  names: ToolNames,
): readonly string[] {
  const shown = textOrNull(entry["name"]) ?? textOrNull(entry["server_label"]) ?? String(entry["type"]);
  const called = tools.map((tool) => ({ flat: tool.function.name, tool: names.resolve(tool.function.name) }));
  const isMeant = ({ tool }: { tool: CalledTool }) =>
    entry["type"] === "namespace" ? tool.namespace === shown : tool.kind === entry["type"] && tool.name === shown;
  const found = called.filter(isMeant).map(({ flat }) => flat);
  if (found.length === 0) throw invalidInput(`Tool choice '${shown}' not found in 'tools' parameter.`, "tool_choice");
  return found;
}
