import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { unsupportedParameter } from "../model-server/errors/model-errors.ts";
import type { ChatTool, ChatToolChoice } from "./chat-wire.ts";
import { NamedTools } from "./named-tools.ts";
import type { ToolNames } from "./tool-names.ts";

export interface ChosenTools {
  readonly tools: readonly ChatTool[];
  readonly choice: ChatToolChoice;
}

/** Not all servers know `allowed_tools`, so the other tools are left out of the request. */
export function mapToolChoice(
  choice: ModelRequest["toolChoice"],
  tools: readonly ChatTool[],
  names: ToolNames,
): ChosenTools {
  if (typeof choice === "string") return { tools, choice };
  switch (choice.type) {
    case "function":
    case "custom": {
      const [name] = namedTools(tools, names).find({ type: choice.type, name: choice.name });
      return { tools, choice: { type: "function", function: { name: name ?? choice.name } } };
    }
    case "hosted_function": {
      const [name] = namedTools(tools, names).find({ ...choice });
      return { tools, choice: { type: "function", function: { name: name ?? choice.name } } };
    }
    case "allowed_tools": {
      const chosen = namedTools(tools, names);
      const allowedNames = new Set<string>();
      for (const entry of choice.tools) for (const name of chosen.find(entry)) allowedNames.add(name);
      return { tools: tools.filter((tool) => allowedNames.has(tool.function.name)), choice: choice.mode };
    }
    default:
      throw unsupportedParameter(
        "tool_choice",
        `Tool choice '${choice.type}' is not available with this model server.`,
      );
  }
}

function namedTools(tools: readonly ChatTool[], names: ToolNames): NamedTools {
  return new NamedTools(
    tools.map((tool) => tool.function.name),
    names,
  );
}
