import type { IncomingMessage, ServerResponse } from "node:http";
import { createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { serveHttp } from "../kit/http-server.ts";

export type Tool = "pay" | "look";

/** What a call of a tool does. */
export type Act = (
  tool: Tool,
  number: number,
  keys: SentKeys,
) => Promise<{ content: { type: "text"; text: string }[] }>;

/** The key of a call, as it came in `_meta` and as a header. */
export interface SentKeys {
  readonly meta: unknown;
  readonly header: string | null;
}

export interface BankOptions {
  /** Default: loopback. */
  readonly host?: string;
  /** Whether `pay` says that it is idempotent. */
  readonly isIdempotent?: boolean;
}

/**
 * Serves the tools `pay`, which has an effect, and `look`, which has none, over MCP until the test ends. Resolves to
 * the address of the tool server.
 */
export async function serveBank(act: Act, { host, isIdempotent = false }: BankOptions = {}): Promise<string> {
  const handler = createMcpHandler(() => toolsOf(act, isIdempotent), { legacy: "reject" });
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

function toolsOf(act: Act, isIdempotent: boolean): McpServer {
  const server = new McpServer({ name: "bank", version: "1.0.0" });
  const inputSchema = z.object({ number: z.number() });
  const pays = {
    description: "Pays.",
    inputSchema,
    ...(isIdempotent ? { annotations: { idempotentHint: true } } : {}),
  };
  const keysOf = ({ mcpReq, http }: ServerContext): SentKeys => ({
    meta: mcpReq._meta?.["antiphon/idempotency-key"] ?? null,
    header: http?.req?.headers.get("idempotency-key") ?? null,
  });
  server.registerTool("pay", pays, ({ number }, context) => act("pay", number, keysOf(context)));
  const looks = { description: "Looks.", inputSchema, annotations: { readOnlyHint: true } };
  server.registerTool("look", looks, ({ number }, context) => act("look", number, keysOf(context)));
  return server;
}
