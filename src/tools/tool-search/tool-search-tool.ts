import type { Tool, ToolSearchCall } from "@antiphon/contracts/responses-api/types.ts";
import type {
  HostedTool,
  MadeCall,
  OpeningItem,
  OpenTool,
  ToolCall,
  ToolOutcome,
  ToolRefusal,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, HostedItem } from "@antiphon/domain/models/hosted.ts";
import { readArguments, textArgument } from "../read-arguments.ts";
import { withoutSteps } from "../without-steps.ts";
import { ToolIndex, toolName } from "./find-tools.ts";

const NAMES_TOLD_MAX = 100;

/**
 * The `tool_search` tool that the server runs: finds client tools and MCP servers that the request defers. A found tool
 * is offered from the next turn on, as a namespace of its own name.
 */
export const toolSearchTool: HostedTool = {
  kind: "tool_search",
  types: ["tool_search"],
  refusal: (tool): ToolRefusal | null => {
    if (tool.type !== "tool_search" || tool.parameters == null) return null;
    const reason = "A search of the server has parameters of its own. Only one of the client takes 'parameters'.";
    return { reason, member: "parameters", grade: "invalid" };
  },
  open: async (_tool, { laterTools }) => openSearch(laterTools),
};

function openSearch(laterTools: readonly Tool[]): OpenTool {
  const index = new ToolIndex(laterTools);
  return {
    functions: laterTools.length === 0 ? [] : [toolSearchFunction(laterTools)],
    note: null,
    opening: [],
    pending: [],
    call: (_name, origin) => toolSearchCall(index, origin),
    close: async () => {},
  };
}

function toolSearchFunction(laterTools: readonly Tool[]): HostedFunction {
  const names = laterTools.flatMap((tool) => toolName(tool) ?? []);
  const rest = names.length > NAMES_TOLD_MAX ? ` and ${names.length - NAMES_TOLD_MAX} more` : "";
  const nameList = names.slice(0, NAMES_TOLD_MAX).join(", ");
  return {
    type: "hosted_function",
    server: null,
    name: "tool_search",
    description: `Finds further tools, which can be called afterwards. There are: ${nameList}${rest}.`,
    parameters: {
      type: "object",
      properties: { query: { type: "string", description: "What the tool should do, or its name." } },
      required: ["query"],
    },
  };
}

function toolSearchCall(index: ToolIndex, origin: MadeCall): ToolCall {
  const first: ToolSearchCall = {
    id: origin.newItemId("tsc"),
    type: "tool_search_call",
    status: "in_progress",
    arguments: {}, // The found tools, at the end.
    call_id: null,
    execution: "server",
  };
  return {
    item: first,
    streams: null,
    effect: "none",
    run: (args) => {
      const query = textArgument(readArguments(args) ?? {}, "query");
      return withoutSteps(query === null ? NO_QUERY : toolSearchOutcome(origin, first, index.find(query)));
    },
  };
}

const NO_QUERY: ToolOutcome = { type: "told", output: "The arguments need `query`, a text. Nothing was searched." };

function toolSearchOutcome({ newItemId }: MadeCall, first: ToolSearchCall, tools: readonly Tool[]): ToolOutcome {
  const paths = tools.flatMap((tool) => toolName(tool) ?? []);
  const item: ToolSearchCall = { ...first, status: "completed", arguments: { paths } };
  const output: HostedItem = {
    id: newItemId("tso"),
    type: "tool_search_output",
    status: "completed",
    call_id: null,
    execution: "server",
    tools: [...tools],
  };
  const following: OpeningItem = { first: output, last: output };
  const answer = paths.length === 0 ? "No tool fits. Try other words." : `You can now call: ${paths.join(", ")}.`;
  const foundTools = tools.map(asNamespace);
  return { type: "ran", item, output: answer, parts: [], sources: [], following: [following], foundTools };
}

/** The reference's form of found tools: with a namespace of their own name. */
function asNamespace(tool: Tool): Tool {
  if (tool.type !== "function" && tool.type !== "custom") return tool;
  return { type: "namespace", description: tool.description ?? "", name: tool.name, tools: [tool] };
}
