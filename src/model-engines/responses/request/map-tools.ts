import { isRecord } from "@antiphon/base/json/records.ts";
import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest, OfferedTool } from "@antiphon/domain/models/model-request.ts";
import { NamedTools } from "../../context/named-tools.ts";
import type { ToolNames } from "../../context/tool-names.ts";
import { unsupportedParameter } from "../../model-server/errors/model-errors.ts";
import type { WireTool, WireToolChoice } from "./responses-wire.ts";

type FunctionTool = Extract<Tool, { type: "function" }>;
/** A function or custom tool, possibly in a namespace. */
type CallableTool =
  | FunctionTool
  | Extract<Tool, { type: "custom" }>
  | Extract<Tool, { type: "namespace" }>["tools"][number];

const NO_PARAMETERS = { type: "object", properties: {}, required: [], additionalProperties: false } as const;
const TOOL_SEARCH_DESCRIPTION = "Finds further tools, which can then be called.";

/**
 * Maps the tools and registers their names. Namespaces become prefixes of names, because few servers know them. Client
 * tools come first, so that they keep their names.
 */
export function mapWireTools(tools: readonly OfferedTool[], names: ToolNames): readonly WireTool[] {
  const placed = tools.map((tool, position) => ({ tool, position, isHosted: tool.type === "hosted_function" }));
  const sorted = [...placed.filter(({ isHosted }) => !isHosted), ...placed.filter(({ isHosted }) => isHosted)];
  const wireTools = sorted.flatMap(({ tool, position }) => mapTool(tool, position, names));
  return [...new Map(wireTools.map((tool) => [tool.name, tool])).values()];
}

function mapTool(tool: OfferedTool, position: number, names: ToolNames): readonly WireTool[] {
  switch (tool.type) {
    case "hosted_function": {
      const name = names.add({ kind: "hosted", name: tool.name, namespace: tool.server });
      return [
        { type: "function", name, ...descriptionOf(tool.description), parameters: tool.parameters, strict: false },
      ];
    }
    case "function":
    case "custom":
      return [mapCallable(tool, null, "", names)];
    case "tool_search": {
      const name = names.add({ kind: "tool_search", name: "tool_search", namespace: null });
      const parameters = isRecord(tool.parameters) ? tool.parameters : NO_PARAMETERS;
      const description = tool.description ?? TOOL_SEARCH_DESCRIPTION;
      return [{ type: "function", name, description, parameters, strict: false }];
    }
    case "namespace":
      return tool.tools.map((member) => mapCallable(member, tool.name, tool.description, names));
    default:
      throw unsupportedParameter(
        `tools[${position}]`,
        `Tools of type '${tool.type}' are not available with this model server.`,
      );
  }
}

function mapCallable(tool: CallableTool, namespace: string | null, group: string, names: ToolNames): WireTool {
  const name = names.add({ kind: tool.type, name: tool.name, namespace });
  // A namespace may repeat the description of its only tool.
  const texts = new Set([group, tool.description ?? "", tool.type === "function" ? outputNote(tool) : ""]);
  const description = descriptionOf([...texts].filter((text) => text !== "").join("\n\n"));
  if (tool.type === "custom")
    return { type: "custom", name, ...description, ...(tool.format.type === "text" ? {} : { format: tool.format }) };
  const { parameters, strict } = tool;
  return { type: "function", name, ...description, parameters: parameters ?? NO_PARAMETERS, strict: strict ?? false };
}

function outputNote({ output_schema: schema }: Pick<FunctionTool, "output_schema">): string {
  return schema === null || schema === undefined ? "" : `Returns JSON of this schema: ${JSON.stringify(schema)}`;
}

function descriptionOf(description: string): { readonly description?: string } {
  return description === "" ? {} : { description };
}

export interface ChosenWireTools {
  readonly tools: readonly WireTool[];
  readonly choice: WireToolChoice;
}

/** `knowsAllowedTools`: if the server does not know `allowed_tools`, the other tools are left out of the request. */
export function chooseWireTools(
  choice: ModelRequest["toolChoice"],
  tools: readonly WireTool[],
  { names, knowsAllowedTools }: { readonly names: ToolNames; readonly knowsAllowedTools: boolean },
): ChosenWireTools {
  if (typeof choice === "string") return { tools, choice };
  const find = finder(tools, names);
  switch (choice.type) {
    case "function":
    case "custom":
    case "hosted_function": {
      const [tool] = find({ ...choice });
      const type = tool?.type ?? (choice.type === "custom" ? "custom" : "function");
      return { tools, choice: { type, name: tool?.name ?? choice.name } };
    }
    case "allowed_tools": {
      const { mode } = choice;
      const allowed = new Set(choice.tools.flatMap((entry) => find(entry)));
      if (!knowsAllowedTools) return { tools: tools.filter((tool) => allowed.has(tool)), choice: mode };
      const entries = [...allowed].map(({ type, name }) => ({ type, name }));
      return { tools, choice: { type: "allowed_tools", mode, tools: entries } };
    }
    default:
      throw unsupportedParameter(
        "tool_choice",
        `Tool choice '${choice.type}' is not available with this model server.`,
      );
  }
}

/** Finds the tools that an entry of a choice names. */
function finder(
  tools: readonly WireTool[],
  names: ToolNames,
): (entry: Readonly<Record<string, unknown>>) => readonly WireTool[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const namedTools = new NamedTools([...byName.keys()], names);
  return (entry) => namedTools.find(entry).flatMap((flat) => byName.get(flat) ?? []);
}
