import type {
  CreateMessageRequest,
  MessagesBlockInput,
  MessagesMcpServer,
  MessagesToolInput,
  MessagesTurnInput,
} from "@antiphon/contracts/messages/types.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import { missingParameter, unsupportedParameter } from "../../responses-api/errors/parameter-errors.ts";
import { clientToolSchema } from "./client-tools.ts";

type Tool = NonNullable<CreateResponseRequest["tools"]>[number];
type FunctionTool = Extract<Tool, { type: "function" }>;
type ToolChoice = NonNullable<CreateResponseRequest["tool_choice"]>;

/** The members of a request that are about tools. */
export type ToolMembers = Pick<CreateMessageRequest, "messages" | "tools" | "tool_choice" | "mcp_servers">;

/** The tools of a create request. Throws an `ApiError` for a tool that this server does not have. */
export function messageTools({ tools, mcp_servers: servers, messages }: ToolMembers): Tool[] {
  const sent = tools ?? [];
  const searches = sent.some(({ type }) => type?.startsWith("tool_search_tool_") === true);
  const referenced = searches ? null : referencedTools(messages);
  const web = sent.filter(isWebTool);
  const toolsets = new Map(
    sent.filter(({ type }) => type === "mcp_toolset").map((set) => [set.mcp_server_name ?? "", set]),
  );
  return [
    ...sent.flatMap((tool, index) => functionTools(tool, `tools.${index}`, referenced)),
    ...(web.length === 0 ? [] : [webSearchTool(web, sent.length === 1 ? quotedQuery(messages) : null)]),
    ...(sent.some(({ type }) => type?.startsWith("code_execution_") === true) ? [CODE_TOOL] : []),
    ...(searches ? [{ type: "tool_search" as const }] : []),
    ...(servers ?? []).flatMap((server) => mcpTools(server, toolsets.get(server.name) ?? null)),
  ];
}

const CODE_TOOL = { type: "code_interpreter", container: { type: "auto" } } as const satisfies Tool;

function isWebTool({ type }: MessagesToolInput): boolean {
  return type?.startsWith("web_search_") === true || type?.startsWith("web_fetch_") === true;
}

/** Types of tools of this server, which `messageTools` adds by itself. */
const SERVER_TYPES = /^(?:web_search_|web_fetch_|code_execution_|tool_search_tool_|mcp_toolset$)/;

/** A deferred tool is offered if a search of the client found it. `referenced` is null if this server searches. */
function functionTools(
  { type, name, description, input_schema: schema, strict, defer_loading: isDeferred }: MessagesToolInput,
  path: string,
  referenced: ReadonlySet<string> | null,
): FunctionTool[] {
  const kind = type ?? "custom";
  if (SERVER_TYPES.test(kind)) return [];
  const known = kind === "custom" ? null : clientToolSchema(kind);
  if (kind !== "custom" && known === null)
    throw unsupportedParameter(`${path}.type`, `there is no tool '${kind}' here`);
  if (name == null) throw missingParameter(`${path}.name`);
  if (isDeferred === true && referenced !== null && !referenced.has(name)) return [];
  const text = description ?? known?.description;
  return [
    {
      type: "function",
      name,
      ...(text === undefined ? {} : { description: text }),
      parameters: known?.parameters ?? withoutDialect(schema ?? { type: "object", properties: {} }),
      strict: strict ?? false,
      ...(isDeferred === true && referenced === null ? { defer_loading: true } : {}),
    },
  ];
}

/** Without `$schema`, which some model servers do not take. */
function withoutDialect(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { $schema: _dialect, ...members } = schema;
  return members;
}

function referencedTools(messages: readonly MessagesTurnInput[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { content } of messages)
    if (typeof content !== "string") for (const block of content) addNames(block, names);
  return names;
}

function addNames(block: MessagesBlockInput, names: Set<string>): void {
  if (block.type !== "tool_result" || block.content == null || typeof block.content === "string") return;
  for (const part of block.content) if (part.type === "tool_reference") names.add(part.tool_name);
}

/** How Claude Code asks for a search, in a request of its own. */
const SEARCH_REQUEST = /^Perform a web search for the query:\s*(.+)$/s;
const QUERY_CHARACTERS_MAX = 400;

/**
 * The words that a client asks to search for; null if it asks something else. A small model would search for the whole
 * sentence, or answer without a search.
 */
function quotedQuery(messages: readonly MessagesTurnInput[]): string | null {
  const [first, ...others] = messages.filter(({ role }) => role !== "system");
  if (first?.role !== "user" || others.length > 0) return null;
  const [block] = typeof first.content === "string" ? [{ type: "text" as const, text: first.content }] : first.content;
  const query = block?.type === "text" ? SEARCH_REQUEST.exec(block.text.trim())?.[1] : undefined;
  return query?.trim().slice(0, QUERY_CHARACTERS_MAX) ?? null;
}

/** One search for all tools that search or open pages. Its limits are those of the first that has any. */
function webSearchTool(tools: readonly MessagesToolInput[], query: string | null): Tool {
  const allowed = tools.find(({ allowed_domains: domains }) => domains != null)?.allowed_domains;
  const blocked = tools.find(({ blocked_domains: domains }) => domains != null)?.blocked_domains;
  const place = tools.find(({ user_location: location }) => location != null)?.user_location;
  const filters = {
    ...(allowed == null ? {} : { allowed_domains: allowed }),
    ...(blocked == null ? {} : { blocked_domains: blocked }),
  };
  return {
    type: "web_search",
    ...(allowed == null && blocked == null ? {} : { filters }),
    ...(query === null ? {} : { first_query: query }),
    ...(place == null
      ? {}
      : {
          user_location: {
            type: "approximate",
            city: place.city ?? null,
            country: place.country ?? null,
            region: place.region ?? null,
            timezone: place.timezone ?? null,
          },
        }),
  };
}

/** Nobody can be asked for an approval in a message, so calls need none. */
function mcpTools(
  { name, url, authorization_token: token, tool_configuration: configuration }: MessagesMcpServer,
  toolset: MessagesToolInput | null,
): Tool[] {
  if (configuration?.enabled === false) return [];
  const allowed = toolset === null ? (configuration?.allowed_tools ?? null) : allowedTools(toolset);
  return [
    {
      type: "mcp",
      server_label: name,
      server_url: url,
      require_approval: "never",
      ...(token == null ? {} : { authorization: token }),
      ...(allowed === null ? {} : { allowed_tools: allowed }),
    },
  ];
}

/** The tools that a toolset switches on; null if it offers those that it does not name. */
function allowedTools({ default_config: otherwise, configs }: MessagesToolInput): string[] | null {
  if (otherwise?.enabled !== false) return null;
  return Object.entries(configs ?? {}).flatMap(([name, { enabled }]) => (enabled === false ? [] : [name]));
}

/** The most calls of tools of this server; null if one of them has no limit. */
export function callsMax(tools: CreateMessageRequest["tools"]): number | null {
  const limits = (tools ?? [])
    .filter(({ type }) => type != null && SERVER_TYPES.test(type) && !type.startsWith("tool_search_"))
    .map(({ max_uses: uses }) => uses ?? null);
  const known = limits.filter((limit) => limit !== null);
  if (known.length === 0 || known.length < limits.length) return null;
  return known.reduce((sum, limit) => sum + limit, 0);
}

/** Whether and what the model has to call; null if the request does not say. */
export function messageToolChoice({ tool_choice: choice, tools }: ToolMembers): ToolChoice | null {
  if (choice == null) return null;
  switch (choice.type) {
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool":
      return namedTool(choice.name ?? null, tools);
  }
}

function namedTool(name: string | null, tools: ToolMembers["tools"]): ToolChoice {
  if (name === null) throw missingParameter("tool_choice.name");
  const type = tools?.find((tool) => tool.name === name)?.type ?? "custom";
  if (/^web_(?:search|fetch)_/.test(type)) return { type: "web_search" };
  if (type.startsWith("code_execution_")) return { type: "code_interpreter" };
  return { type: "function", name };
}
