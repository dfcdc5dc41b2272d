import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { CreateResponseRequest, Tool } from "@antiphon/contracts/responses-api/types.ts";
import {
  invalidFunctionParameters,
  invalidJsonSchema,
  toolChoiceNotFound,
  toolChoiceWithoutTools,
} from "../errors/parameter-errors.ts";
import { kindOfType } from "../offered-tools/tool-kinds.ts";
import { checkFileSearch } from "./passage-search.ts";
import { strictnessFault } from "./strict-schema.ts";

/** Refuses strict functions whose schema breaks the rules of `strict`, and inconsistent file searches. */
export async function checkTools({ tools }: CreateResponseRequest): Promise<void> {
  await eachInSlices(tools ?? [], (tool, index) => {
    if (tool.type === "function" && tool.strict === true) checkParameters(index, tool.name, tool.parameters);
    if (tool.type === "file_search") checkFileSearch(tool, `tools[${index}]`);
  });
}

function checkParameters(index: number, name: string, parameters: unknown): void {
  const fault = strictnessFault(parameters);
  if (fault !== null) throw invalidFunctionParameters(index, name, fault);
}

/** Refuses a strict output schema that breaks the rules of `strict`. */
export function checkTextFormat({ text }: CreateResponseRequest): void {
  const format = text?.format;
  if (format?.type !== "json_schema" || format.strict !== true) return;
  const fault = strictnessFault(format.schema);
  if (fault !== null) throw invalidJsonSchema(format.name, fault);
}

/** Refuses a choice of tools that are not in `tools`. */
export function checkToolChoice({ tool_choice: choice }: CreateResponseRequest, tools: readonly Tool[]): void {
  if (choice == null || choice === "auto" || choice === "none") return;
  if (choice === "required") {
    if (tools.length === 0) throw toolChoiceWithoutTools(choice);
    return;
  }
  if (choice.type === "allowed_tools") {
    const offeredNames = new OfferedNames(tools);
    for (const allowedTool of choice.tools)
      offeredNames.check(
        String(allowedTool["name"] ?? allowedTool["type"]),
        String(allowedTool["type"]),
        allowedTool["server_label"],
      );
    return;
  }
  const name = "name" in choice && typeof choice.name === "string" ? choice.name : choice.type;
  new OfferedNames(tools).check(name, choice.type, choice.type === "mcp" ? choice.server_label : undefined);
}

/** An index of the tools that can be chosen: both the choice and `tools` may be long lists. */
class OfferedNames {
  readonly #names = new Set<string>();
  /** Kinds of tools: any type of the same kind means them. */
  readonly #nameless = new Set<string>();
  readonly #labels = new Set<string>();
  readonly #inNamespaces = new Set<string>();

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) {
      if ("name" in tool) this.#names.add(`${tool.type} ${tool.name}`);
      else this.#nameless.add(kindOfType(tool.type) ?? tool.type);
      if (tool.type === "mcp") this.#labels.add(tool.server_label);
      if (tool.type === "namespace") for (const { name } of tool.tools) this.#inNamespaces.add(name);
    }
  }

  check(name: string, type: string, label?: unknown): void {
    if (typeof label === "string" && !this.#labels.has(label)) throw toolChoiceNotFound(label);
    const isOffered =
      this.#nameless.has(kindOfType(type) ?? type) ||
      this.#names.has(`${type} ${name}`) ||
      this.#inNamespaces.has(name);
    if (!isOffered) throw toolChoiceNotFound(name);
  }
}
