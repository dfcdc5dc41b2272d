import { isRecord } from "@antiphon/base/json/records.ts";
import type { McpListTools } from "@antiphon/contracts/responses-api/types.ts";
import {
  type ApprovedCall,
  ELICITATION,
  type OpeningItem,
  type ServerGuide,
  ToolNotOpened,
  type ToolScope,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ServerSecrets } from "./authorization/server-secrets.ts";
import { cutInstructions, fetchList, tooManyTools } from "./list-tools.ts";
import type { McpInput, McpOptions, McpServer } from "./mcp-server.ts";
import { type ListedServer, type OfferedMcpTool, traitsOf } from "./offered-tools.ts";
import type { ServerLink } from "./server-link.ts";
import { allowanceOf } from "./tool-filter.ts";

/** How many times a response reads the list of a server again. */
const RENEWALS_MAX = 16;

/** The facts known before the server is called. */
export interface Opening {
  readonly server: McpServer;
  readonly tool: McpInput;
  readonly scope: ToolScope;
  readonly options: McpOptions;
  readonly approvedCalls: readonly IdentifiedCall[];
  /** The list in the context; null if there is none. */
  readonly known: ListedServer | null;
  /** The id of the item for a new list. */
  readonly listId: string;
}

/** An approved call, and the id of its item. */
export interface IdentifiedCall extends ApprovedCall {
  readonly itemId: string;
}

/** How a response reaches a server and reads its list. */
interface ListSource {
  readonly opening: Opening;
  readonly link: ServerLink;
  readonly secrets: ServerSecrets;
}

interface OpenList {
  readonly tools: readonly OfferedMcpTool[];
  readonly guide: ServerGuide | null;
  /** The item of the list, if it was read for this response. */
  readonly opening: readonly OpeningItem[];
}

/**
 * The tools of a server, from the context or from the server. `hasNewList`: whether the list in the context is
 * outdated. Rejects with `ModelError` if they are unavailable.
 */
export async function openList(
  opening: Opening,
  link: ServerLink,
  secrets: ServerSecrets,
  hasNewList: () => boolean,
): Promise<ServerTools> {
  const { server, known, listId } = opening;
  const source = { opening, link, secrets };
  const usable = known === null ? null : usableList(opening, known);
  if (usable !== null && !hasNewList()) return new ServerTools(source, usable);
  const { list, item } = await readList(source, listId, opening.scope.signal);
  if (usable !== null && areEqual(usable.tools, list.tools)) return new ServerTools(source, usable);
  const guide = guideOf(server, listId, list.instructions);
  return new ServerTools(source, { tools: list.tools, guide, opening: [item] });
}

/** A list in the context, with the tools that the request and the operator allow. */
function usableList({ server, tool, options }: Opening, known: ListedServer): OpenList {
  const filters = [allowanceOf(tool.allowed_tools), allowanceOf(server.limits?.allowedTools)];
  const tools = known.tools.filter((offer) => filters.every((isAllowed) => isAllowed(traitsOf(offer))));
  if (tools.length > options.toolsMax) throw tooManyTools(server.label, options.toolsMax);
  return { tools, guide: guideOf(server, known.id, known.instructions), opening: [] };
}

/** Some servers say that their list has changed when its allowed part has not, or directly before it is read. */
function areEqual(some: readonly OfferedMcpTool[], others: readonly OfferedMcpTool[]): boolean {
  const textOf = (tools: readonly OfferedMcpTool[]): string =>
    JSON.stringify(tools.map(({ definition }) => definition));
  return textOf(some) === textOf(others);
}

/** The tools of a server in one response. They change when the server says so. */
export class ServerTools {
  readonly guide: ServerGuide | null;
  /** The item of the list, if it was read for this response. */
  readonly opening: readonly OpeningItem[];
  readonly #source: ListSource;
  #offers = new Map<string, OfferedMcpTool>();
  #functions: readonly HostedFunction[] = [];
  #renewals = 0;

  constructor(source: ListSource, { tools, guide, opening }: OpenList) {
    this.#source = source;
    this.guide = guide;
    this.opening = opening;
    this.#set(tools);
  }

  /** Another array after each change. */
  get functions(): readonly HostedFunction[] {
    return this.#functions;
  }

  find(name: string): OfferedMcpTool | null {
    return this.#offers.get(name) ?? null;
  }

  /**
   * Reads the list again if the server has said that it changed. Returns its item; null if nothing changed, or if the
   * list cannot be read, in which case the tools stay.
   */
  async renew(signal: AbortSignal): Promise<OpeningItem | null> {
    const { opening, link } = this.#source;
    if (!link.hasNewList || this.#renewals >= RENEWALS_MAX) return null;
    this.#renewals += 1;
    try {
      const { list, item } = await readList(this.#source, opening.scope.newItemId("mcpl"), signal);
      if (areEqual([...this.#offers.values()], list.tools)) return null;
      this.#set(list.tools);
      return item;
    } catch (error) {
      if (!(error instanceof ModelError) && !signal.aborted) throw error;
      return null;
    }
  }

  #set(tools: readonly OfferedMcpTool[]): void {
    const { server } = this.#source.opening;
    const callable = tools.filter(({ definition }) => definition.name !== ELICITATION); // That names questions.
    this.#offers = new Map(callable.map((offer) => [offer.definition.name, withOperatorsWord(offer, server)]));
    this.#functions = callable.map((offer) => mcpFunction(server, offer));
  }
}

/** The operator may know of a tool what its server does not say. */
function withOperatorsWord(offer: OfferedMcpTool, { idempotent }: McpServer): OfferedMcpTool {
  return { ...offer, idempotent: offer.idempotent || idempotent.includes(offer.definition.name) };
}

async function readList({ opening, link, secrets }: ListSource, id: string, signal: AbortSignal) {
  const { server, tool, options } = opening;
  const first: McpListTools = { id, type: "mcp_list_tools", server_label: server.label, tools: [] };
  const list = await fetchList(link, { server, tool, options, secrets }, signal).catch((error: unknown) => {
    if (!(error instanceof ModelError)) throw error;
    throw new ToolNotOpened(error, { first, last: { ...first, error: error.message } });
  });
  const guidance = list.instructions === null ? {} : { instructions: list.instructions };
  const last = { ...first, ...guidance, tools: list.tools.map(({ definition }) => definition) };
  return { list, item: { first, last } };
}

/** The id of the list is not sent to the server. A client may send a longer text than a server. */
function guideOf({ label }: McpServer, secret: string, instructions: string | null): ServerGuide | null {
  return instructions === null ? null : { server: label, text: cutInstructions(instructions), secret };
}

function mcpFunction({ label, description }: McpServer, { definition }: OfferedMcpTool): HostedFunction {
  const texts = [description, definition.description].filter((text) => text !== null && text !== "");
  return {
    type: "hosted_function",
    name: definition.name,
    server: label,
    description: texts.join("\n"),
    parameters: parametersOf(definition.input_schema),
  };
}

/** Model servers reject some members that describe the schema itself. */
function parametersOf(schema: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(schema)) return { type: "object", properties: {} };
  const { $schema: _, ...rest } = schema;
  return { ...rest, type: "object", ...(isRecord(rest["properties"]) ? {} : { properties: {} }) };
}
