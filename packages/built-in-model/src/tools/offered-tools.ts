import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { callerFault } from "../model-errors.ts";

/** A tool that can be called. Tools of namespaces are listed one by one. */
export interface ListedTool {
  /** Run by the client, or `hosted`: by this server. A `tool_search` is run by the client. */
  readonly kind: "function" | "hosted" | "custom" | "tool_search";
  readonly name: string;
  /** The namespace of a hosted function is its server. */
  readonly namespace: string | null;
  readonly description?: string | null;
  /** The JSON Schema of the arguments. */
  readonly parameters?: unknown;
  /** Of a custom tool. Null if any text is allowed. */
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
      case "hosted_function":
        return [{ ...tool, kind: "hosted", namespace: tool.server, grammar: null }];
      case "tool_search":
        return [{ ...tool, kind: tool.type, name: tool.type, namespace: null, grammar: null }];
      case "namespace":
        return tool.tools.map((member) => offeredTool(member, tool.name));
      default: {
        const message = `Tools of type '${tool.type}' are not available with the built-in engine.`;
        throw callerFault(message, `tools[${position}]`, "unsupported_parameter");
      }
    }
  });
}

function offeredTool(tool: Callable, namespace: string | null): ListedTool {
  const grammar = tool.type === "custom" && tool.format?.type === "grammar" ? tool.format : null;
  return { ...tool, kind: tool.type, namespace, grammar };
}
