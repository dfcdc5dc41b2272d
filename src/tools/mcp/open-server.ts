import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { McpListTools } from "@antiphon/contracts/responses-api/types.ts";
import {
  type ApprovedCall,
  type OpeningItem,
  type OpenTool,
  type PendingCall,
  type ServerGuide,
  ToolNotOpened,
  type ToolScope,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { TokenSources } from "./authorization/token-sources.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { cutInstructions, fetchList, tooManyTools } from "./list-tools.ts";
import type { McpInput, McpOptions, McpServer } from "./mcp-server.ts";
import type { ListedServer, OfferedMcpTool } from "./offered-tools.ts";
import { ProgramPool } from "./programs/program-pool.ts";
import { approvalCall, type CallContext, mcpCall } from "./run-call.ts";
import { ServerLink, type TakenConnection } from "./server-link.ts";
import { ServerSecrets } from "./server-secrets.ts";
import { allowanceOf, approvalNeedOf, restraintOf, type ToolTest } from "./tool-filter.ts";

/** The facts known before the server is called. */
export interface Opening {
  readonly server: McpServer;
  readonly tool: McpInput;
  readonly scope: ToolScope;
  readonly options: McpOptions;
  readonly approvedCalls: readonly IdentifiedCall[];
  /** A list in the context, or the id of the item for a new one. */
  readonly list: { readonly known: ListedServer } | { readonly id: string };
}

/** An approved call, and the id of its item. */
export interface IdentifiedCall extends ApprovedCall {
  readonly itemId: string;
}

/** What outlives responses: connections to remote servers, and programs. */
export interface ConnectionPools {
  readonly remote: ConnectionPool;
  readonly programs: ProgramPool;
  readonly tokens: TokenSources;
  /** Never rejects. */
  close(): Promise<void>;
}

export function openPools(options: McpOptions): ConnectionPools {
  const tokens = new TokenSources(options);
  const remote = new ConnectionPool({ ...options, tokens });
  const programs = new ProgramPool(options);
  const close = async (): Promise<void> => {
    await Promise.all([remote.close(), programs.close()]);
    await tokens.close();
  };
  return { remote, programs, tokens, close };
}

/** Prepares the tools of a server for one response. Rejects with `ModelError` if they are unavailable. */
export async function openServer(pools: ConnectionPools, opening: Opening): Promise<OpenTool> {
  const { server, scope, options } = opening;
  const link = new ServerLink(() => takeConnection(pools, server, scope));
  const secrets = new ServerSecrets(server, pools.tokens.sourceOf(server.tokenPlace));
  try {
    const { tools, guide, list } = await listOf(opening, link, secrets);
    const byName = new Map(tools.map((offer) => [offer.definition.name, offer]));
    const isHeld = holdOf(server, opening.tool);
    const context: CallContext = {
      link,
      label: server.label,
      images: scope.abilities.images,
      charactersMax: options.outputCharactersMax,
      secrets,
    };
    return {
      functions: tools.map((offer) => mcpFunction(server, offer)),
      note: null,
      guide,
      opening: list,
      pending: opening.approvedCalls.map((call) => pendingCall(context, byName, call, server)),
      call(name, origin) {
        const offer = byName.get(name);
        assert(offer !== undefined, "only offered tools are called");
        const { approvalRequestId = null } = origin;
        if (approvalRequestId === null && isHeld(traitsOf(offer))) return approvalCall(server.label, offer, origin);
        return mcpCall(context, offer, { id: origin.newItemId("mcp"), approvalRequestId });
      },
      close: async () => link.close(),
    };
  } catch (error) {
    link.close();
    throw error;
  }
}

async function takeConnection(pools: ConnectionPools, server: McpServer, scope: ToolScope): Promise<TakenConnection> {
  if (server.reach.type === "program") {
    const program = await pools.programs.take(server, scope);
    return { connection: program.connection, release: () => pools.programs.giveBack(program) };
  }
  const place = await pools.remote.take(server, scope.owner);
  return { connection: place.connection, release: () => pools.remote.giveBack(place) };
}

interface OpenList {
  readonly tools: readonly OfferedMcpTool[];
  readonly guide: ServerGuide | null;
  /** Its item, if the list was fetched. */
  readonly list: readonly OpeningItem[];
}

async function listOf(
  { server, tool, scope, options, list }: Opening,
  link: ServerLink,
  secrets: ServerSecrets,
): Promise<OpenList> {
  if ("known" in list) {
    const { id, instructions } = list.known;
    const filters = [allowanceOf(tool.allowed_tools), allowanceOf(server.limits?.allowedTools)];
    const tools = list.known.tools.filter((offer) => filters.every((isAllowed) => isAllowed(traitsOf(offer))));
    if (tools.length > options.toolsMax) throw tooManyTools(server.label, options.toolsMax);
    return { tools, guide: guideOf(server, id, instructions), list: [] };
  }
  const first: McpListTools = { id: list.id, type: "mcp_list_tools", server_label: server.label, tools: [] };
  const { tools, instructions } = await fetchList(link, { server, tool, options, secrets }, scope.signal).catch(
    (error: unknown) => {
      if (!(error instanceof ModelError)) throw error;
      throw new ToolNotOpened(error, { first, last: { ...first, error: error.message } });
    },
  );
  const said = instructions === null ? {} : { instructions };
  const last = { ...first, ...said, tools: tools.map(({ definition }) => definition) };
  return { tools, guide: guideOf(server, list.id, instructions), list: [{ first, last }] };
}

/** The id of the list is not sent to the server. A client may send a longer text than a server. */
function guideOf({ label }: McpServer, secret: string, instructions: string | null): ServerGuide | null {
  return instructions === null ? null : { server: label, text: cutInstructions(instructions), secret };
}

/** Whether calls of a tool need approval, by the request or the operator. */
function holdOf({ limits }: McpServer, tool: McpInput): ToolTest {
  const isWanted = approvalNeedOf(tool.require_approval);
  const isImposed = restraintOf(limits?.requireApproval);
  return (traits) => isWanted(traits) || isImposed(traits);
}

function traitsOf({ definition, readOnly }: OfferedMcpTool) {
  return { name: definition.name, readOnly };
}

/** An approved call, with the arguments of its request. */
function pendingCall(
  context: CallContext,
  tools: ReadonlyMap<string, OfferedMcpTool>,
  { requestId, itemId, name, arguments: args, isAskedHere }: IdentifiedCall,
  { limits }: McpServer,
): PendingCall {
  const offer = tools.get(name);
  if (offer === undefined) throw approvedToolMissing(context.label, name);
  if (!isAskedHere && restraintOf(limits?.requireApproval)(traitsOf(offer)))
    throw approvalNotAsked(requestId, context.label);
  const call = mcpCall(context, offer, { id: itemId, approvalRequestId: requestId });
  return { name, callId: requestId, arguments: args, approvalRequestId: requestId, call };
}

function approvedToolMissing(label: string, name: string): ModelError {
  return unusableApproval(
    `The approved call is of the tool '${name}', which the MCP server '${label}' does not offer now.`,
  );
}

/** A client could approve a call that nobody requested. */
function approvalNotAsked(requestId: string, label: string): ModelError {
  return unusableApproval(
    `Approval request '${requestId}' was not made by a stored response of this server, which its operator requires for the MCP server '${label}'. Let a response with store: true ask.`,
  );
}

function unusableApproval(message: string): ModelError {
  return new ModelError(message, { status: 400, type: "invalid_request_error", code: "invalid_value", param: "input" });
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
