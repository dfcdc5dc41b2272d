import type { CreateResponseRequest, Tool } from "../../../generated/responses-api/types.ts";
import { echoClientTool } from "../echo-tools.ts";
import {
  invalidFunctionParameters,
  invalidJsonSchema,
  toolChoiceNotFound,
  toolChoiceWithoutTools,
  unsupportedParameter,
} from "../errors/parameter-errors.ts";
import { strictnessFault } from "./strict-schema.ts";

/** The tools as they are echoed. Throws for those this server cannot offer, and for schemas that cannot be followed strictly. */
export function acceptedTools(request: CreateResponseRequest): readonly Tool[] {
  return (request.tools ?? []).map((tool, index) => {
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

/** Refuses a schema that `strict` forbids. */
export function checkTextFormat({ text }: CreateResponseRequest): void {
  const format = text?.format;
  if (format?.type !== "json_schema" || format.strict !== true) return;
  const fault = strictnessFault(format.schema);
  if (fault !== null) throw invalidJsonSchema(format.name, fault);
}

/** Refuses a choice of tools that were not offered. */
export function checkToolChoice({ tool_choice: choice }: CreateResponseRequest, tools: readonly Tool[]): void {
  if (choice == null || choice === "auto" || choice === "none") return;
  if (choice === "required") {
    if (tools.length === 0) throw toolChoiceWithoutTools(choice);
    return;
  }
  if (choice.type === "allowed_tools") {
    for (const allowed of choice.tools)
      checkOffered(String(allowed["name"] ?? allowed["type"]), String(allowed["type"]), tools);
    return;
  }
  const named = "name" in choice && typeof choice.name === "string" ? choice.name : choice.type;
  checkOffered(named, choice.type, tools);
}

function checkOffered(name: string, type: string, tools: readonly Tool[]): void {
  const offered = tools.some((tool) => tool.type === type && (!("name" in tool) || tool.name === name));
  const inNamespace = tools.some(
    (tool) => tool.type === "namespace" && tool.tools.some((member) => member.name === name),
  );
  if (!offered && !inNamespace) throw toolChoiceNotFound(name);
}
