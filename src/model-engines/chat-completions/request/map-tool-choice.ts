import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ChatTool, ChatToolChoice } from "../../context/chat-wire.ts";
import type { ToolNames } from "../../context/tool-names.ts";
import { invalidInput, unsupportedParameter } from "../../model-server/errors/model-errors.ts";
import { textOrNull } from "../../model-server/json-values.ts";

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
      const [name] = new NamedTools(tools, names).find({ type: choice.type, name: choice.name });
      return { tools, choice: { type: "function", function: { name: name ?? choice.name } } };
    }
    case "hosted_function": {
      const [name] = new NamedTools(tools, names).find({ ...choice });
      return { tools, choice: { type: "function", function: { name: name ?? choice.name } } };
    }
    case "allowed_tools": {
      const namedTools = new NamedTools(tools, names);
      const allowedNames = new Set<string>();
      for (const entry of choice.tools) for (const name of namedTools.find(entry)) allowedNames.add(name);
      return { tools: tools.filter((tool) => allowedNames.has(tool.function.name)), choice: choice.mode };
    }
    default:
      throw unsupportedParameter(
        "tool_choice",
        `Tool choice '${choice.type}' is not available with this model server.`,
      );
  }
}

/** Index from the names in a tool choice to flat names. Avoids quadratic time, because both lists can be long. */
class NamedTools {
  readonly #byName = new Map<string, string[]>();
  readonly #results = new Set<readonly string[]>();

  constructor(tools: readonly ChatTool[], names: ToolNames) {
    for (const { function: definition } of tools) {
      const { kind, name, namespace } = names.resolve(definition.name);
      if (kind === "hosted") {
        this.#add(hostedKey(namespace, name), definition.name);
        continue;
      }
      this.#add(`${kind} ${name}`, definition.name);
      if (namespace !== null) this.#add(`namespace ${namespace}`, definition.name);
    }
  }

  /**
   * The flat names for an entry: one tool, or all tools of a namespace. Empty if the entry was looked up before. Throws
   * `ModelError` if no tool matches.
   */
  find(entry: Readonly<Record<string, unknown>>): readonly string[] {
    const label = textOrNull(entry["name"]) ?? textOrNull(entry["server_label"]) ?? String(entry["type"]);
    const type = String(entry["type"]);
    const key = type === "hosted_function" ? hostedKey(textOrNull(entry["server"]), label) : `${type} ${label}`;
    const matches = this.#byName.get(key);
    if (matches === undefined)
      throw invalidInput(`Tool choice '${label}' not found in 'tools' parameter.`, "tool_choice");
    if (this.#results.has(matches)) return [];
    this.#results.add(matches);
    return matches;
  }

  #add(key: string, flat: string): void {
    const flats = this.#byName.get(key);
    if (flats === undefined) this.#byName.set(key, [flat]);
    else flats.push(flat);
  }
}

function hostedKey(server: string | null, name: string): string {
  return `hosted_function ${JSON.stringify([server, name])}`;
}
