import { isRecord } from "@antiphon/base/json/records.ts";
import type { Tool, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import { unsupportedParameter } from "../model-server/errors/model-errors.ts";
import type { ChatTool } from "./chat-wire.ts";
import type { ToolNames } from "./tool-names.ts";

type AnyTool = Tool | ToolInput;
type FunctionTool = Extract<AnyTool, { type: "function" }>;
type CustomTool = Extract<AnyTool, { type: "custom" }>;
/** A function or custom tool, possibly in a namespace. */
type CallableTool = FunctionTool | CustomTool | Extract<AnyTool, { type: "namespace" }>["tools"][number];

const NO_PARAMETERS = { type: "object", properties: {} } as const;
const NO_STRICT_PARAMETERS = { ...NO_PARAMETERS, required: [], additionalProperties: false } as const;
const TOOL_SEARCH_DESCRIPTION = "Finds further tools, which can then be called.";
const CUSTOM_PARAMETERS = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as free text." } },
  required: ["input"],
  additionalProperties: false,
} as const;

/** Maps the tools to functions and registers their names. Client tools come first, so that they keep their names. */
export function mapTools(tools: readonly (AnyTool | HostedFunction)[], names: ToolNames): ChatTool[] {
  const hostedTools: HostedFunction[] = [];
  const others = tools.flatMap((tool, position) => {
    switch (tool.type) {
      case "hosted_function":
        hostedTools.push(tool);
        return [];
      case "function":
      case "custom":
        return [mapCallable(tool, null, "", names)];
      case "tool_search":
        return [mapToolSearch(tool, names)];
      case "namespace":
        return tool.tools.map((member) => mapCallable(member, tool.name, tool.description, names));
      default:
        throw unsupportedParameter(
          `tools[${position}]`,
          `Tools of type '${tool.type}' are not available with this model server.`,
        );
    }
  });
  return [...others, ...hostedTools.map((tool) => mapHosted(tool, names))];
}

function mapHosted({ name, server, description, parameters }: HostedFunction, names: ToolNames): ChatTool {
  const flat = names.add({ kind: "hosted", name, namespace: server });
  return {
    type: "function",
    function: { name: flat, ...(description === "" ? {} : { description }), parameters },
  };
}

function mapCallable(tool: CallableTool, namespace: string | null, group: string, names: ToolNames): ChatTool {
  const name = names.add({ kind: tool.type, name: tool.name, namespace });
  const note = tool.type === "custom" ? formatNote(tool) : outputNote(tool);
  // A namespace may repeat the description of its only tool.
  const texts = new Set([group, tool.description ?? "", note]);
  const description = [...texts].filter((text) => text !== "").join("\n\n");
  const fields = description === "" ? {} : { description };
  if (tool.type === "custom") return { type: "function", function: { name, ...fields, parameters: CUSTOM_PARAMETERS } };
  return {
    type: "function",
    function: {
      name,
      ...fields,
      ...(tool.strict === true
        ? { parameters: tool.parameters ?? NO_STRICT_PARAMETERS, strict: true }
        : { parameters: tool.parameters ?? NO_PARAMETERS }),
    },
  };
}

/** Maps a tool search for the client; others are handled before. */
function mapToolSearch(tool: Extract<AnyTool, { type: "tool_search" }>, names: ToolNames): ChatTool {
  const name = names.add({ kind: "tool_search", name: "tool_search", namespace: null });
  const parameters = isRecord(tool.parameters) ? tool.parameters : NO_PARAMETERS;
  return { type: "function", function: { name, description: tool.description ?? TOOL_SEARCH_DESCRIPTION, parameters } };
}

/** Describes the grammar to the model, because a function's schema cannot enforce it. */
function formatNote(tool: Pick<CustomTool, "format">): string {
  const { format } = tool;
  if (format === null || format === undefined || format.type === "text") return "";
  const grammar = format.syntax === "regex" ? "regular expression" : "Lark grammar";
  return `The input must match this ${grammar} exactly:\n${format.definition}`;
}

function outputNote(tool: Pick<FunctionTool, "output_schema">): string {
  const schema = tool.output_schema;
  return schema === null || schema === undefined ? "" : `Returns JSON of this schema: ${JSON.stringify(schema)}`;
}
