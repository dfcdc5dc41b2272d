import type { NamespaceMember, StoredItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import { unsupportedParameter } from "../errors/parameter-errors.ts";
import { echoClientTool } from "../offered-tools/echo-tools.ts";

type NamespaceTool = Extract<Tool, { type: "namespace" }>;

/** The items of a turn and their indexes in this request's input; null for items of earlier requests. */
export interface PlacedItems {
  readonly context: readonly StoredItem[];
  readonly places: readonly (number | null)[];
}

/**
 * The request's tools, together with tools added by items of its context. A tool of `additional_tools` is like one of
 * the request; a function or custom tool found by a search becomes a namespace of its own name. Both replace a deferred
 * tool of the request. Among other tools with the same name and namespace, the first one is used.
 */
export function withJoinedTools(tools: readonly Tool[], { context, places }: PlacedItems): readonly Tool[] {
  if (!context.some(isToolItem)) return tools;
  const together = new ToolList();
  for (const tool of tools) together.add(tool);
  for (const [index, item] of context.entries()) {
    for (const tool of toolsOf(item, places[index] ?? null)) {
      if (item.type === "tool_search_output") together.addFound(tool);
      else together.addMore(tool);
    }
  }
  return together.tools();
}

type ToolItem = Extract<StoredItem, { type: "additional_tools" | "tool_search_output" }>;

function isToolItem(item: StoredItem): item is ToolItem {
  return item.type === "additional_tools" || item.type === "tool_search_output";
}

function toolsOf(item: StoredItem, place: number | null): readonly Tool[] {
  if (!isToolItem(item)) return [];
  // A server found by a search is one of the request's own tools.
  const tools = item.type === "tool_search_output" ? item.tools.filter(({ type }) => type !== "mcp") : item.tools;
  return tools.map((tool, index) => {
    const echo = echoClientTool(tool);
    if (echo !== null) return echo;
    const param = place === null ? "input" : `input[${place}].tools[${index}]`;
    throw unsupportedParameter(param, `Tools of type '${tool.type}' are not available on this server.`);
  });
}

/** Tools in the order added. A namespace of a known name adds its members to the known one. */
class ToolList {
  readonly #tools: (Tool | null)[] = [];
  readonly #places = new Map<string, number>();
  readonly #namespaces = new Map<string, { readonly place: number; readonly members: Map<string, NamespaceMember> }>();

  add(tool: Tool): void {
    if (tool.type === "namespace") this.#addNamespace(tool);
    else {
      this.#places.set(toolKey(tool), this.#tools.length);
      this.#tools.push(tool);
    }
  }

  /** Adds a tool of an `additional_tools` item. */
  addMore(tool: Tool): void {
    if (!isCallable(tool)) return this.#addOther(tool);
    const place = this.#places.get(toolKey(tool));
    if (place !== undefined) {
      if (this.#isDeferred(place)) this.#tools[place] = withoutDeferral(tool);
    } else if (this.#namespaces.get(tool.name)?.members.has(tool.name) !== true) this.add(withoutDeferral(tool));
  }

  /** Adds a tool of a `tool_search_output` item. */
  addFound(tool: Tool): void {
    if (!isCallable(tool)) return this.#addOther(tool);
    const place = this.#places.get(toolKey(tool));
    if (place !== undefined && !this.#isDeferred(place)) return;
    if (place !== undefined) this.#tools[place] = null;
    this.#places.delete(toolKey(tool));
    const { description, name } = tool;
    this.#addNamespace({ type: "namespace", description: description ?? "", name, tools: [withoutDeferral(tool)] });
  }

  tools(): readonly Tool[] {
    for (const { place, members } of this.#namespaces.values()) {
      const tool = this.#tools[place];
      if (tool?.type === "namespace" && members.size > tool.tools.length)
        this.#tools[place] = { ...tool, tools: [...members.values()] };
    }
    return this.#tools.filter((tool) => tool !== null);
  }

  #addOther(tool: Tool): void {
    if (tool.type === "namespace" || !this.#places.has(toolKey(tool))) this.add(tool);
  }

  #addNamespace(tool: NamespaceTool): void {
    const entry = this.#namespaces.get(tool.name);
    const members = entry?.members ?? new Map<string, NamespaceMember>();
    for (const member of tool.tools) if (!members.has(member.name)) members.set(member.name, member);
    if (entry !== undefined) return;
    this.#namespaces.set(tool.name, { place: this.#tools.length, members });
    this.#tools.push(tool);
  }

  #isDeferred(place: number): boolean {
    const tool = this.#tools[place];
    return tool != null && isCallable(tool) && tool.defer_loading === true;
  }
}

function isCallable(tool: Tool): tool is NamespaceMember {
  return tool.type === "function" || tool.type === "custom";
}

function withoutDeferral({ defer_loading: _deferLoading, ...tool }: NamespaceMember): NamespaceMember {
  return tool;
}

function toolKey(tool: Tool): string {
  return "name" in tool ? `${tool.type} ${tool.name}` : tool.type;
}
