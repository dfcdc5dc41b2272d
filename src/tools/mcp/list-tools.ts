import { isRecord } from "@antiphon/base/json/records.ts";
import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { Tool as ServerTool } from "@modelcontextprotocol/client";
import type { ServerSecrets } from "./authorization/server-secrets.ts";
import { explainMcpFailure, listFailed, McpListRefused, timeoutSignal } from "./mcp-failure.ts";
import type { McpInput, McpOptions, McpServer } from "./mcp-server.ts";
import { type OfferedMcpTool, RESOURCE_OFFER, type ServerList } from "./offered-tools.ts";
import type { ServerLink } from "./server-link.ts";
import { allowanceOf } from "./tool-filter.ts";

const PAGES_MAX = 100;
/** The maximum tools of one server, allowed by the request or not. */
const LISTED_TOOLS_MAX = 10_000;
/** The maximum size of one tool's schema and description. */
const TOOL_CHARACTERS_MAX = 65_536;
const SCHEMA_DEPTH_MAX = 64;
const NAME_CHARACTERS_MAX = 256;
/** The maximum of what a server says about the use of its tools: a thousand tokens in each turn. */
const INSTRUCTIONS_CHARACTERS_MAX = 4000;

const CUT = "\n[The rest was cut off.]";

/** The requested tools and server, and the secrets to redact. */
export interface ListRequest {
  readonly server: McpServer;
  readonly tool: McpInput;
  readonly options: Pick<McpOptions, "listTimeoutMs" | "toolsMax">;
  readonly secrets: ServerSecrets;
}

/**
 * Requests a server's tools and keeps the allowed ones. Rejects with `ModelError` if the list is unavailable or
 * invalid, and with the reason of `signal`.
 */
export async function fetchList(
  link: ServerLink,
  { server, tool, options, secrets }: ListRequest,
  signal: AbortSignal,
): Promise<ServerList> {
  const deadline = AbortSignal.any([signal, timeoutSignal(options.listTimeoutMs)]);
  const toolsByName = new Map<string, OfferedMcpTool>();
  const isRequested = allowanceOf(tool.allowed_tools);
  const isPermitted = allowanceOf(server.limits?.allowedTools);
  const accept = (listedTool: ServerTool): void => {
    const traits = { name: listedTool.name, readOnly: isReadOnly(listedTool) };
    if (!isRequested(traits) || !isPermitted(traits)) return;
    if (secrets.isIn(listedTool.name)) return; // It cannot be called under a redacted name.
    checkSize(server.label, listedTool);
    if (!toolsByName.has(listedTool.name)) toolsByName.set(listedTool.name, offeredTool(listedTool, secrets));
    if (toolsByName.size > options.toolsMax) throw tooManyTools(server.label, options.toolsMax);
  };
  try {
    for await (const page of pagesOf(link, deadline)) await eachInSlices(page, accept);
    const { instructions, hasResources } = await link.traits(deadline);
    const { name } = RESOURCE_OFFER.definition;
    const isWanted = hasResources && isRequested({ name, readOnly: true }) && isPermitted({ name, readOnly: true });
    if (isWanted && !toolsByName.has(name) && toolsByName.size < options.toolsMax)
      toolsByName.set(name, RESOURCE_OFFER);
    return { tools: [...toolsByName.values()], instructions: readInstructions(instructions, secrets) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ModelError) throw error;
    throw listFailed(server.label, explainMcpFailure(error, secrets), error);
  }
}

function readInstructions(text: string | null, secrets: ServerSecrets): string | null {
  return text === null || text.trim() === "" ? null : cutInstructions(secrets.redact(text.trim()));
}

/** The text, or its beginning and a remark. */
export function cutInstructions(text: string): string {
  if (text.length <= INSTRUCTIONS_CHARACTERS_MAX) return text;
  return `${text.slice(0, INSTRUCTIONS_CHARACTERS_MAX - CUT.length).toWellFormed()}${CUT}`;
}

async function* pagesOf(link: ServerLink, signal: AbortSignal): AsyncGenerator<readonly ServerTool[]> {
  let cursor: string | undefined;
  let count = 0;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await link.listPage(cursor, signal);
    if (page === null) return;
    count += page.tools.length;
    if (count > LISTED_TOOLS_MAX) throw new McpListRefused(`The list has more than ${LISTED_TOOLS_MAX} tools.`);
    yield page.tools;
    if (page.nextCursor === undefined || page.nextCursor === cursor) return;
    cursor = page.nextCursor;
  }
  throw new McpListRefused(`The list has more than ${PAGES_MAX} pages.`);
}

function isReadOnly({ annotations }: ServerTool): boolean {
  return annotations?.readOnlyHint === true;
}

function offeredTool(tool: ServerTool, secrets: ServerSecrets): OfferedMcpTool {
  const { name, description, inputSchema, annotations } = tool;
  const readOnly = isReadOnly(tool);
  const idempotent = annotations?.idempotentHint === true;
  return {
    definition: {
      // The list is reused from its item, so the hint must be part of it.
      annotations: { read_only: readOnly, ...(idempotent ? { idempotent } : {}) },
      description: secrets.redact(description ?? ""), // A client fails on null.
      input_schema: secrets.redactJson(inputSchema),
      name,
    },
    readOnly,
    idempotent,
    readsResources: false,
  };
}

function checkSize(label: string, { name, description = "", inputSchema }: ServerTool): void {
  if (name === "" || name.length > NAME_CHARACTERS_MAX)
    throw unusable(`The MCP server '${label}' lists a tool whose name is empty or too long.`);
  const isTooLarge =
    isDeeper(inputSchema, SCHEMA_DEPTH_MAX) ||
    description.length + JSON.stringify(inputSchema).length > TOOL_CHARACTERS_MAX;
  if (isTooLarge)
    throw unusable(
      `The tool '${name}' of the MCP server '${label}' has a schema and a description of more than ${TOOL_CHARACTERS_MAX} characters or ${SCHEMA_DEPTH_MAX} levels. Leave it out with allowed_tools.`,
    );
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isRecord(value) && !Array.isArray(value)) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, levels - 1));
}

export function tooManyTools(label: string, toolsMax: number): ModelError {
  return unusable(
    `The MCP server '${label}' offers more than ${toolsMax} tools. Choose some of them with allowed_tools.`,
  );
}

function unusable(message: string): ModelError {
  return new ModelError(message, { status: 400, type: "invalid_request_error", code: "invalid_value", param: "tools" });
}
