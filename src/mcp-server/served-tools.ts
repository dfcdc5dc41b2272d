import { ApiError } from "@antiphon/base/api-error.ts";
import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Caller } from "../responses-api/access/caller.ts";
import type { McpServing } from "./mcp-serving.ts";
import { isFailed, type RanTool, refusalOf, runHostedTool, WrongArguments } from "./run-hosted-tool.ts";

const QUERIES_MAX = 5;
const STORES_MAX = 16;
const STORES_LISTED_MAX = 100;
const RESULTS_MAX = 50;
/** How often a client that asked for progress hears of a running call. */
const PROGRESS_MS = 10_000;

const FILE_SEARCH: ToolInput = { type: "file_search", vector_store_ids: [] };
const CODE_INTERPRETER: ToolInput = { type: "code_interpreter", container: { type: "auto" } };
const WEB_SEARCH: ToolInput = { type: "web_search" };

const QUERIES = z
  .array(z.string().min(1))
  .min(1)
  .max(QUERIES_MAX)
  .describe("Short questions; several forms of one question find more.");

const FILE_SEARCH_ARGUMENTS = z.object({
  vector_store_ids: z.array(z.string()).min(1).max(STORES_MAX).describe("Such as vs_…; list_vector_stores names them."),
  queries: QUERIES,
  max_num_results: z.int().min(1).max(RESULTS_MAX).optional(),
});
const CODE_ARGUMENTS = z.object({
  code: z.string().describe("Python. The value of the last line is shown, as in a notebook."),
  container_id: z.string().optional().describe("The container of an earlier call, with its variables and files."),
});
const WEB_ARGUMENTS = z.object({
  queries: QUERIES,
  recency: z.enum(["day", "week", "month", "year"]).optional().describe("Only pages of this time."),
});

/** Registers the tools of this server that the caller may use. */
export function serveHostedTools(server: McpServer, serving: McpServing, caller: Caller): void {
  const isOffered = (tool: ToolInput): boolean => refusalOf(serving, caller, tool) === null;
  if (isOffered(FILE_SEARCH)) serveFileSearch(server, serving, caller);
  if (isOffered(CODE_INTERPRETER)) serveCode(server, serving, caller);
  if (isOffered(WEB_SEARCH)) serveWebSearch(server, serving, caller);
}

function serveFileSearch(server: McpServer, serving: McpServing, caller: Caller): void {
  const description = "Searches the files of vector stores and returns passages with their file names.";
  const annotations = { readOnlyHint: true, openWorldHint: false };
  const told = { title: "Search files", description, annotations, inputSchema: FILE_SEARCH_ARGUMENTS };
  server.registerTool("file_search", told, ({ queries, vector_store_ids, max_num_results = null }, context) => {
    const tool: ToolInput = { type: "file_search", vector_store_ids, max_num_results };
    return answerCall(serving, caller, context, { tool, args: { queries } });
  });
  const listing = { title: "List vector stores", description: "Lists the vector stores, newest first.", annotations };
  server.registerTool("list_vector_stores", listing, async () => {
    const page = { limit: STORES_LISTED_MAX, order: "desc", after: null, before: null } as const;
    const { entries = [] } = (await serving.vectorStores.listStores(caller.principal.owner, page)) ?? {};
    const stores = entries.map(({ id, name, status, file_counts: files }) => ({
      id,
      name,
      status,
      files: files.total,
    }));
    return { content: [{ type: "text", text: JSON.stringify(stores) }], structuredContent: { stores } };
  });
}

function serveCode(server: McpServer, serving: McpServing, caller: Caller): void {
  const description =
    "Runs Python in a container without network. Give container_id, which each answer names, to go on with its variables and its files in /mnt/data; without it, a new container is made.";
  const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
  const told = { title: "Run Python", description, annotations, inputSchema: CODE_ARGUMENTS };
  server.registerTool("code_interpreter", told, ({ code, container_id: id }, context) => {
    const tool: ToolInput = { type: "code_interpreter", container: id ?? { type: "auto" } };
    return answerCall(serving, caller, context, { tool, args: { code } });
  });
}

function serveWebSearch(server: McpServer, serving: McpServing, caller: Caller): void {
  const description = "Searches the web and returns numbered hits with their addresses.";
  const annotations = { readOnlyHint: true, openWorldHint: true };
  const told = { title: "Search the web", description, annotations, inputSchema: WEB_ARGUMENTS };
  server.registerTool("web_search", told, (args, context) =>
    answerCall(serving, caller, context, { tool: WEB_SEARCH, args }),
  );
}

interface ServedCall {
  readonly tool: ToolInput;
  readonly args: object;
}

/** Failures that the model can read are results; the protocol's errors are for clients. */
async function answerCall(
  serving: McpServing,
  caller: Caller,
  context: ServerContext,
  { tool, args }: ServedCall,
): Promise<CallToolResult> {
  const signal = AbortSignal.any([caller.signal, context.mcpReq.signal]);
  const progress = new Progress(context);
  try {
    const refusal = refusalOf(serving, caller, tool);
    if (refusal !== null) return failure(refusal);
    if (tool.type === "code_interpreter") await serving.quota.requireRoom(caller.principal.owner);
    const onStep = (step: string): void => progress.tell(step);
    return resultOf(await runHostedTool(serving, caller, { tool, args, signal, onStep }));
  } catch (error) {
    const isTold = error instanceof ModelError || error instanceof ApiError || error instanceof WrongArguments;
    if (isTold) return failure(error.message);
    if (!signal.aborted) caller.log.error({ err: error }, "a tool of the MCP server failed");
    return failure(signal.aborted ? "The call was stopped." : "The server had an internal error.");
  } finally {
    progress.end();
  }
}

function resultOf(ran: RanTool): CallToolResult {
  const { item } = ran;
  const pictures = ran.parts.flatMap((part) => {
    const [, mimeType, data] =
      ("image_url" in part ? /^data:([^;]+);base64,(.*)$/s.exec(part.image_url ?? "") : null) ?? [];
    return mimeType === undefined || data === undefined ? [] : [{ type: "image" as const, mimeType, data }];
  });
  const container = item.type === "code_interpreter_call" ? { container_id: item.container_id } : null;
  const suffix = container === null ? "" : `\n[container_id: ${container.container_id}]`;
  return {
    content: [{ type: "text", text: `${ran.output}${suffix}` }, ...pictures],
    ...(container === null ? {} : { structuredContent: { ...container, output: ran.output } }),
    ...(isFailed(ran) ? { isError: true } : {}),
  };
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Tells a client that asked for it that its call goes on. */
class Progress {
  readonly #context: ServerContext;
  readonly #timer: NodeJS.Timeout | null;
  #step = "started";
  #count = 0;

  constructor(context: ServerContext) {
    this.#context = context;
    const isWanted = context.mcpReq._meta?.progressToken !== undefined;
    this.#timer = isWanted ? setInterval(() => this.tell(this.#step), PROGRESS_MS) : null;
  }

  tell(step: string): void {
    this.#step = step;
    const progressToken = this.#context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    const params = { progressToken, progress: ++this.#count, message: step };
    this.#context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // The client has left.
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}
