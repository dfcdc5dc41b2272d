import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import type { McpCall, McpListTools, OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import { sendJson } from "../../tests/kit/http-answers.ts";

/** Stands in scenarios and requests for the address of the servers. */
export const RECORDED_TOOLS = "http://recorded-tools";

/** Stands in requests for the id of a vector store of our server. */
export const RECORDED_STORE = "vs_recorded";

export interface RecordedTools {
  /** Has no trailing slash. */
  readonly url: string;
  /** The settings with which our server finds them. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/**
 * Starts servers that say what was recorded: `/search` every source of a search, `/page` a page, `/mcp/<label>` the
 * tools and outputs of the MCP server with this label.
 */
export async function startRecordedTools(items: readonly OutputItem[]): Promise<RecordedTools> {
  const listener: RequestListener = (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    if (path === "/search") return sendJson(response, { results: hitsOf(items) });
    if (path === "/page") return void response.writeHead(200, { "content-type": "text/plain" }).end("A page.");
    void text(request).then((body) => {
      const message: JsonRpc = body === "" ? { method: "" } : JSON.parse(body);
      const result = answerOf(items, path.replace("/mcp/", ""), message);
      if (result === null) response.writeHead(202).end();
      else sendJson(response, { jsonrpc: "2.0", id: message.id, ...result });
    });
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the recorded tools have no port");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    env: { EGRESS_ALLOW: "127.0.0.1", WEB_SEARCH_PROVIDER: "searxng", WEB_SEARCH_BASE_URL: url },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface JsonRpc {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown };
}

function hitsOf(items: readonly OutputItem[]): readonly object[] {
  const searches = items.flatMap((item) => (item.type === "web_search_call" ? [item.action] : []));
  const sources = searches.flatMap((action) => (action?.type === "search" ? (action.sources ?? []) : []));
  return sources.flatMap((source) =>
    source.type === "url" ? [{ url: source.url, title: "A page", content: "" }] : [],
  );
}

function answerOf(items: readonly OutputItem[], label: string, { method, params }: JsonRpc): object | null {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: label, version: "1" },
        },
      };
    case "tools/list":
      return { result: { tools: toolsOf(items, label) } };
    case "tools/call":
      return { result: { content: [{ type: "text", text: outputOf(items, params) }] } };
    default:
      return method.startsWith("notifications/") ? null : { error: { code: -32_601, message: "Method not found" } };
  }
}

function toolsOf(items: readonly OutputItem[], label: string): readonly object[] {
  const list = items.find(
    (item): item is McpListTools => item.type === "mcp_list_tools" && item.server_label === label,
  );
  return (list?.tools ?? []).map(({ name, description, input_schema: inputSchema }) => ({
    name,
    description: description ?? "",
    inputSchema,
  }));
}

function outputOf(items: readonly OutputItem[], params: JsonRpc["params"]): string {
  const made = JSON.stringify(params?.arguments ?? {});
  const isMade = (item: OutputItem): item is McpCall =>
    item.type === "mcp_call" && item.name === params?.name && JSON.stringify(JSON.parse(item.arguments)) === made;
  return items.find(isMade)?.output ?? "";
}
