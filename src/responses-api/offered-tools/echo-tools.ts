import { isRecord } from "@antiphon/base/json/records.ts";
import type {
  CustomTool,
  FunctionTool,
  NamespaceMember,
  Tool,
  ToolInput,
} from "@antiphon/contracts/responses-api/types.ts";
import { settleStrictness } from "./strict-form.ts";

/** The echo of parameters of `{}`. */
const EMPTY_PARAMETERS = { type: "object", properties: {} } as const;

type Accepted<T extends ToolInput["type"]> = Extract<ToolInput, { type: T }>;
type FunctionLike = Accepted<"function"> | Extract<Accepted<"namespace">["tools"][number], { type: "function" }>;

/** Echoes a tool that the client runs; null for any other tool. */
export function echoClientTool(tool: ToolInput): Tool | null {
  switch (tool.type) {
    case "function":
      return echoFunction(tool);
    case "custom":
      return echoCustom(tool);
    case "namespace":
      return { type: "namespace", description: tool.description, name: tool.name, tools: tool.tools.map(echoMember) };
    case "tool_search":
      return tool.execution === "client" ? echoToolSearch(tool) : null;
    default:
      return null;
  }
}

function echoToolSearch(tool: Accepted<"tool_search">): Tool {
  return {
    type: "tool_search",
    description: tool.description ?? null,
    execution: "client",
    parameters: asSchema(tool.parameters),
  };
}

function echoMember(tool: Accepted<"namespace">["tools"][number]): NamespaceMember {
  return tool.type === "function" ? echoFunction(tool) : echoCustom(tool);
}

/** Fills in every default, like the reference. */
function echoFunction(tool: FunctionLike): FunctionTool {
  return {
    type: "function",
    ...(tool.allowed_callers == null ? {} : { allowed_callers: tool.allowed_callers }),
    ...(tool.async === undefined ? {} : { async: tool.async }),
    ...(tool.defer_loading === undefined ? {} : { defer_loading: tool.defer_loading }),
    description: tool.description ?? null,
    name: tool.name,
    output_schema: tool.output_schema ?? null,
    ...settledParameters(tool),
  };
}

/** A function without a schema is strict unless the request says otherwise. */
function settledParameters({ parameters, strict }: FunctionLike): Pick<FunctionTool, "parameters" | "strict"> {
  const sentSchema = asSchema(parameters);
  if (sentSchema === null) return { parameters: null, strict: strict ?? true };
  if (Object.keys(sentSchema).length === 0) return { parameters: EMPTY_PARAMETERS, strict: strict ?? false };
  const settlement = settleStrictness(sentSchema, strict);
  return { parameters: settlement.schema, strict: settlement.strict };
}

function echoCustom(tool: Accepted<"custom">): CustomTool {
  return {
    type: "custom",
    ...(tool.allowed_callers == null ? {} : { allowed_callers: tool.allowed_callers }),
    ...(tool.async === undefined ? {} : { async: tool.async }),
    ...(tool.defer_loading === undefined ? {} : { defer_loading: tool.defer_loading }),
    ...(tool.description == null ? {} : { description: tool.description }),
    format: tool.format ?? { type: "text" },
    name: tool.name,
  };
}

function asSchema(parameters: unknown): Record<string, unknown> | null {
  return isRecord(parameters) ? parameters : null;
}
