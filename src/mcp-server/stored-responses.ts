import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { ListedResponse } from "@antiphon/domain/inspection.ts";
import {
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Caller } from "../responses-api/access/caller.ts";
import { filterOf } from "../responses-api/operations/inspection/list-responses.ts";
import { plainBody } from "../responses-api/show/plain-body.ts";
import type { McpServing } from "./mcp-serving.ts";

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;
const RESOURCES_LISTED = 50;
const SCHEME = "antiphon://responses/";
const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const;

const LIST_ARGUMENTS = z.object({
  limit: z.int().min(1).max(PAGE_MAX).optional(),
  after: z.string().optional().describe("The id of the last response of the page before."),
  query: z.string().optional().describe("Words that the input or output must contain."),
  conversation: z.string().optional().describe("Only responses of this conversation."),
});

/** Registers the caller's stored responses, as tools and as resources. */
export function serveStoredResponses(server: McpServer, serving: McpServing, { principal: { owner } }: Caller): void {
  const listing = {
    title: "List responses",
    description: "Lists stored responses, newest first.",
    annotations: READ_ONLY,
  };
  server.registerTool("list_responses", { ...listing, inputSchema: LIST_ARGUMENTS }, async (args) => {
    const { limit = PAGE_DEFAULT, after = null, query, conversation } = args;
    const filter = filterOf({
      ...(query === undefined ? {} : { query }),
      ...(conversation === undefined ? {} : { conversation }),
    });
    const page = await serving.archive.list(owner, { filter, limit, order: "desc", after });
    if (page === null) return notFound(after ?? "");
    const responses = page.responses.map(summaryOf);
    const body = { responses, has_more: page.hasMore, last_id: page.lastId };
    return { content: [{ type: "text", text: JSON.stringify(body) }], structuredContent: body };
  });
  const getting = {
    title: "Get a response",
    description: "The text of a stored response, and a link to the whole of it.",
    annotations: READ_ONLY,
    inputSchema: z.object({ response_id: z.string() }),
  };
  server.registerTool("get_response", getting, async ({ response_id: id }) => {
    const response = await serving.responses.findResponse(owner, id);
    return response === null ? notFound(id) : shownResponse(response, serving.tools.limits.outputCharactersMax);
  });
  const template = new ResourceTemplate(`${SCHEME}{response_id}`, {
    list: async () => {
      const page = { filter: filterOf({}), limit: RESOURCES_LISTED, order: "desc", after: null } as const;
      const { responses = [] } = (await serving.archive.list(owner, page)) ?? {};
      return { resources: responses.map(resourceOf) };
    },
  });
  const told = { title: "Stored response", description: "A response as JSON.", mimeType: "application/json" };
  server.registerResource("response", template, told, async (uri, { response_id: id }) => {
    const response = typeof id === "string" ? await serving.responses.findResponse(owner, id) : null;
    if (response === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No response ${uri.href}`);
    const text = JSON.stringify(plainBody(response));
    return { contents: [{ uri: uri.href, mimeType: "application/json", text }] };
  });
}

function summaryOf({ id, model, status, created_at: createdAt }: ListedResponse) {
  return { id, model, status, created_at: createdAt };
}

function resourceOf({ id, model, created_at: createdAt }: ListedResponse) {
  const description = `By ${model} at ${new Date(createdAt * 1000).toISOString()}`;
  return { uri: `${SCHEME}${id}`, name: id, description, mimeType: "application/json" };
}

function shownResponse(response: Response, charactersMax: number): CallToolResult {
  const texts = response.output.flatMap((item) =>
    item.type === "message" ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : [])) : [],
  );
  const text = texts.join("\n");
  const { id, model, status, created_at: createdAt } = response;
  const head = JSON.stringify({ id, model, status, created_at: createdAt });
  const shownText = text.length > charactersMax ? `${text.slice(0, charactersMax).toWellFormed()}…` : text;
  return {
    content: [
      { type: "text", text: `${head}\n${shownText}` },
      { type: "resource_link", uri: `${SCHEME}${id}`, name: id, mimeType: "application/json" },
    ],
  };
}

function notFound(id: string): CallToolResult {
  return { content: [{ type: "text", text: `Response with id '${id}' not found.` }], isError: true };
}
