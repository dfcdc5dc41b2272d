import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerByFetch, sendJson } from "../../tests/kit/http-answers.ts";

const RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp";
const CLIENT = { id: "the-client-of-the-trial", secret: randomBytes(24).toString("hex") } as const;
/** A token is good for so many calls of tools, so that a trial needs several. */
const CALLS_OF_TOKEN_MAX = 1;

/** A server of MCP_SERVERS_FILE that needs OAuth. */
export interface GuardedEntry {
  readonly url: string;
  readonly oauth: { readonly client_id: string; readonly client_secret: string };
}

/**
 * Serves an MCP server with the tool `count`, and its OAuth authorization server, on one address. It gives tokens to
 * one client for one resource.
 */
export async function serveGuarded(): Promise<GuardedEntry> {
  const origin = await listenOnLoopback(guardedHandler());
  return { url: `${origin}/mcp`, oauth: { client_id: CLIENT.id, client_secret: CLIENT.secret } };
}

/** Listens until the process ends. Returns the origin. */
export async function listenOnLoopback(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

function guardedHandler(): RequestListener {
  const callsByToken = new Map<string, number>();
  let count = 0;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "guarded", version: "1.0.0" });
    server.registerTool("count", { description: "Counts.", inputSchema: z.object({}) }, () => {
      count += 1;
      return { content: [{ type: "text", text: `${count} with ${callsByToken.size} tokens` }] };
    });
    return server;
  });
  return (request, response) => {
    const origin = `http://${request.headers.host}`;
    const resource = `${origin}/mcp`;
    if (request.url === RESOURCE_PATH)
      return sendJson(response, { resource, authorization_servers: [origin], scopes_supported: ["count"] });
    if (request.url === "/.well-known/oauth-authorization-server") return sendJson(response, metadataOf(origin));
    if (request.url === "/token")
      return void text(request).then((body) => {
        const token = isRightForm(new URLSearchParams(body), resource) ? randomBytes(24).toString("hex") : null;
        if (token === null) return response.writeHead(401).end('{"error":"invalid_client"}');
        callsByToken.set(token, 0);
        return sendJson(response, { access_token: token, token_type: "Bearer", expires_in: 3600, scope: "count" });
      });
    if (request.url === "/mcp" && useToken(request, callsByToken))
      return void answerByFetch(handler.fetch, request, response);
    const challenge = `Bearer resource_metadata="${origin}${RESOURCE_PATH}"`;
    return response.writeHead(request.url === "/mcp" ? 401 : 404, { "www-authenticate": challenge }).end();
  };
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  };
}

function isRightForm(form: URLSearchParams, resource: string): boolean {
  return (
    form.get("grant_type") === "client_credentials" &&
    form.get("client_id") === CLIENT.id &&
    form.get("client_secret") === CLIENT.secret &&
    form.get("resource") === resource
  );
}

/** Whether the token is still good. Counts a call of a tool, which a server of the newer protocol names in a header. */
function useToken({ headers }: IncomingMessage, callsByToken: Map<string, number>): boolean {
  const token = headers.authorization?.replace(/^Bearer /, "") ?? "";
  const calls = callsByToken.get(token) ?? CALLS_OF_TOKEN_MAX;
  if (calls >= CALLS_OF_TOKEN_MAX) return false;
  if (headers["mcp-method"] === "tools/call") callsByToken.set(token, calls + 1);
  return true;
}
