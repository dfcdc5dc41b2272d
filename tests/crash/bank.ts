import type { IncomingMessage, ServerResponse } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { serveHttp } from "../kit/http-server.ts";

export type Tool = "pay" | "look";

/** What a call of a tool does. */
export type Act = (tool: Tool, number: number) => Promise<{ content: { type: "text"; text: string }[] }>;

/**
 * Serves the tools `pay`, which has an effect, and `look`, which has none, over MCP until the test ends. Resolves to
 * the address of the tool server. Default host: loopback.
 */
export async function serveBank(act: Act, host?: string): Promise<string> {
  const handler = createMcpHandler(() => toolsOf(act), { legacy: "reject" });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += String(piece);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === "string") headers.set(name, value);
    const { method = "GET" } = request;
    const url = `http://127.0.0.1${request.url}`;
    const reply = await handler.fetch(new Request(url, { method, headers, body: method === "POST" ? body : null }));
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    response.end(await reply.text());
  };
  const listen = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response).catch(() => response.destroy()); // The caller went away.
  return `${(await serveHttp(listen, undefined, host)).url}/mcp`;
}

function toolsOf(act: Act): McpServer {
  const server = new McpServer({ name: "bank", version: "1.0.0" });
  const inputSchema = z.object({ number: z.number() });
  server.registerTool("pay", { description: "Pays.", inputSchema }, ({ number }) => act("pay", number));
  const looks = { description: "Looks.", inputSchema, annotations: { readOnlyHint: true } };
  server.registerTool("look", looks, ({ number }) => act("look", number));
  return server;
}
