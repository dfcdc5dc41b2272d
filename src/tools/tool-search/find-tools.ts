import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import MiniSearch from "minisearch";

/** A deferred tool and its searchable words. */
interface Entry {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: string;
}

const FOUND_MAX = 5;
const QUERY_CHARACTERS_MAX = 1000;
const WEIGHTS = { name: 3, description: 1, parameters: 0.5 } as const;
/** Word boundaries inside names: `create_invoice`, `createInvoice`, `crm.create`. */
const WORD_ENDS = /[\s_\-./:]+|(?<=[a-z0-9])(?=[A-Z])/;

/** Finds tools by the words of their names, descriptions and parameters, ranked by BM25. */
export class ToolIndex {
  readonly #tools: readonly Tool[];
  readonly #index: MiniSearch<Entry>;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#index = new MiniSearch<Entry>({
      fields: Object.keys(WEIGHTS),
      tokenize: (text) => text.split(WORD_ENDS).filter((word) => word !== ""),
    });
    this.#index.addAll(tools.map((tool, id) => ({ id, ...indexEntry(tool) })));
  }

  /** At most five tools, best first. */
  find(query: string): readonly Tool[] {
    const options = { boost: WEIGHTS, prefix: true, fuzzy: 0.2 } as const;
    const hits = this.#index.search(query.slice(0, QUERY_CHARACTERS_MAX), options);
    return hits.slice(0, FOUND_MAX).flatMap(({ id }) => this.#tools[Number(id)] ?? []);
  }
}

/** The name of a tool for the model and the client. An MCP server's name is its label. */
export function toolName(tool: Tool): string | null {
  if (tool.type === "mcp") return tool.server_label;
  return "name" in tool ? tool.name : null;
}

function indexEntry(tool: Tool): Omit<Entry, "id"> {
  const name = toolName(tool) ?? "";
  if (tool.type === "mcp") {
    const toolNames = Array.isArray(tool.allowed_tools) ? tool.allowed_tools : (tool.allowed_tools?.tool_names ?? []);
    return { name, description: [tool.server_description ?? "", ...toolNames].join(" "), parameters: "" };
  }
  const description = "description" in tool ? (tool.description ?? "") : "";
  if (tool.type === "namespace") {
    const members = tool.tools.map((member) => `${member.name} ${member.description ?? ""}`).join(" ");
    return { name, description: `${description} ${members}`, parameters: "" };
  }
  if (tool.type !== "function") return { name, description, parameters: "" };
  const properties: unknown = tool.parameters?.["properties"];
  const parameters = typeof properties === "object" && properties !== null ? Object.keys(properties).join(" ") : "";
  return { name, description, parameters };
}
