import type { Tool } from "../../../../generated/responses-api/types.ts";
import type { ModelRequest } from "../../../runs/request/model-request.ts";
import { unsupportedTool } from "../model-errors.ts";

/** A tool that can be called. Tools of namespaces are listed one by one. */
export type ListedTool = OfferedFunction | OfferedCustomTool | OfferedToolSearch;

interface Named {
  readonly name: string;
  readonly namespace: string | null;
  readonly description: string;
}

export interface OfferedFunction extends Named {
  /** Run by the client, or `hosted`: by this server. The namespace of a hosted function is its server. */
  readonly kind: "function" | "hosted";
  /** The JSON Schema of the arguments. */
  readonly parameters: unknown;
}

/** A search for more tools, run by the client. */
export interface OfferedToolSearch extends Named {
  readonly kind: "tool_search";
  readonly parameters: unknown;
}

export interface OfferedCustomTool extends Named {
  readonly kind: "custom";
  /** Null if any text is allowed. */
  readonly grammar: { readonly syntax: "lark" | "regex"; readonly definition: string } | null;
}

type Callable = Extract<Tool, { type: "function" | "custom" }>;

/** Throws `ModelError` for tools that are no functions. */
export function offeredTools(tools: ModelRequest["tools"]): ListedTool[] {
  return tools.flatMap((tool, position): ListedTool[] => {
    switch (tool.type) {
      case "function":
      case "custom":
        return [offeredTool(tool, null)];
      case "hosted_function": {
        const { name, server, description, parameters } = tool;
        return [{ kind: "hosted", name, namespace: server, description, parameters }];
      }
      case "tool_search":
        return [offeredSearch(tool)];
      case "namespace":
        return tool.tools.map((member) => offeredTool(member, tool.name));
      default:
        throw unsupportedTool(tool.type, position);
    }
  });
}

function offeredSearch({ description, parameters }: Extract<Tool, { type: "tool_search" }>): OfferedToolSearch {
  return { kind: "tool_search", name: "tool_search", namespace: null, description: description ?? "", parameters };
}

function offeredTool(tool: Callable, namespace: string | null): ListedTool {
  const named = { name: tool.name, namespace, description: tool.description ?? "" };
  if (tool.type === "function") return { kind: "function", ...named, parameters: tool.parameters ?? {} };
  const { format } = tool;
  return {
    kind: "custom",
    ...named,
    grammar: format?.type === "grammar" ? { syntax: format.syntax, definition: format.definition } : null,
  };
}
