import type { NamespaceMember, StoredItem, Tool } from "../../../generated/responses-api/types.ts";
import { unsupportedParameter } from "../errors/parameter-errors.ts";
import { echoClientTool } from "./echo-tools.ts";

type NamespaceTool = Extract<Tool, { type: "namespace" }>;

/** The items of a turn and their indexes in this request's input; null for items of earlier requests. */
export interface ToolContext {
  readonly context: readonly StoredItem[];
  readonly places: readonly (number | null)[];
}

/**
 * The tools of a request, followed by the tools that items of its context added. An added function or custom tool
 * becomes a namespace of its own name. Of two tools with the same name and namespace the first one is used.
 */
export function withJoinedTools(tools: readonly Tool[], { context, places }: ToolContext): readonly Tool[] {
  if (!context.some(isToolItem)) return tools;
  const joined = context.flatMap((item, index) => toolsOf(item, places[index] ?? null));
  const together = new ToolList();
  for (const tool of tools) together.add(tool);
  for (const tool of joined) if (!together.has(tool)) together.add(asNamespace(tool));
  return together.tools();
}

type ToolItem = Extract<StoredItem, { type: "additional_tools" | "tool_search_output" }>;

function isToolItem(item: StoredItem): item is ToolItem {
  return item.type === "additional_tools" || item.type === "tool_search_output";
}

function toolsOf(item: StoredItem, place: number | null): readonly Tool[] {
  if (!isToolItem(item)) return [];
  // A server that a search found is one of the request's own tools.
  const tools = item.type === "tool_search_output" ? item.tools.filter(({ type }) => type !== "mcp") : item.tools;
  return tools.map((tool, index) => {
    const echo = echoClientTool(tool);
    if (echo !== null) return echo;
    const param = place === null ? "input" : `input[${place}].tools[${index}]`;
    throw unsupportedParameter(param, `Tools of type '${tool.type}' are not available on this server.`);
  });
}

function asNamespace(tool: Tool): Tool {
  if (tool.type !== "function" && tool.type !== "custom") return tool;
  return { type: "namespace", description: tool.description ?? "", name: tool.name, tools: [tool] };
}

/** Tools in the order added. A namespace of a known name adds its members to the known one. */
class ToolList {
  readonly #tools: Tool[] = [];
  readonly #keys = new Set<string>();
  readonly #namespaces = new Map<string, { readonly place: number; readonly members: Map<string, NamespaceMember> }>();

  has(tool: Tool): boolean {
    return tool.type !== "namespace" && this.#keys.has(keyOf(tool));
  }

  add(tool: Tool): void {
    if (tool.type === "namespace") this.#addNamespace(tool);
    else {
      this.#keys.add(keyOf(tool));
      this.#tools.push(tool);
    }
  }

  #addNamespace(tool: NamespaceTool): void {
    const known = this.#namespaces.get(tool.name);
    const members = known?.members ?? new Map<string, NamespaceMember>();
    for (const member of tool.tools) if (!members.has(member.name)) members.set(member.name, member);
    if (known !== undefined) return;
    this.#namespaces.set(tool.name, { place: this.#tools.length, members });
    this.#tools.push(tool);
  }

  tools(): readonly Tool[] {
    for (const { place, members } of this.#namespaces.values()) {
      const tool = this.#tools[place];
      if (tool?.type === "namespace" && members.size > tool.tools.length)
        this.#tools[place] = { ...tool, tools: [...members.values()] };
    }
    return this.#tools;
  }
}

function keyOf(tool: Tool): string {
  return "name" in tool ? `${tool.type} ${tool.name}` : tool.type;
}
