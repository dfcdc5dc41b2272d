import type { CreateResponseRequest, Tool } from "../../../generated/responses-api/types.ts";
import { mapInSlices } from "../../base/limits/slices.ts";
import { echoClientTool } from "../create/echo-tools.ts";
import {
  invalidFunctionParameters,
  invalidJsonSchema,
  toolChoiceNotFound,
  toolChoiceWithoutTools,
  unsupportedParameter,
} from "../errors/parameter-errors.ts";
import { strictnessFault } from "./strict-schema.ts";

/**
 * The tools as the response echoes them. Throws if this server does not support a tool, or if a strict tool's schema
 * breaks the rules of `strict`.
 */
export async function acceptedTools({ tools }: CreateResponseRequest): Promise<readonly Tool[]> {
  return await mapInSlices(tools ?? [], (tool, index) => {
    const echo = echoClientTool(tool);
    if (echo === null)
      throw unsupportedParameter(`tools[${index}]`, `Tools of type '${tool.type}' are not available on this server.`);
    if (tool.type === "function" && tool.strict === true) checkParameters(index, tool.name, tool.parameters);
    return echo;
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
    const offered = new OfferedNames(tools);
    for (const allowed of choice.tools)
      offered.check(String(allowed["name"] ?? allowed["type"]), String(allowed["type"]));
    return;
  }
  const named = "name" in choice && typeof choice.name === "string" ? choice.name : choice.type;
  new OfferedNames(tools).check(named, choice.type);
}

/** An index of the tools that can be chosen: both the choice and `tools` may be long lists. */
class OfferedNames {
  readonly #named = new Set<string>();
  readonly #nameless = new Set<string>();
  readonly #inNamespaces = new Set<string>();

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) {
      if ("name" in tool) this.#named.add(`${tool.type} ${tool.name}`);
      else this.#nameless.add(tool.type);
      if (tool.type === "namespace") for (const { name } of tool.tools) this.#inNamespaces.add(name);
    }
  }

  check(name: string, type: string): void {
    const isOffered = this.#nameless.has(type) || this.#named.has(`${type} ${name}`) || this.#inNamespaces.has(name);
    if (!isOffered) throw toolChoiceNotFound(name);
  }
}
