import type { IncomingMessage } from "node:http";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { answerByFetch, sendJson } from "../../kit/http-answers.ts";
import { serveHttp } from "../../kit/http-server.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type TestMcpServer, toolsOf } from "./mcp-servers.ts";

/** The built-in engine calls `pay` of the server `bank` once. */
export const BANK_SCENARIO = `
scenarios:
  - when: { input_contains: pay, has_tool_output: false }
    events:
      - call: { name: pay, namespace: bank, arguments: { amount: 3 } }
  - when: { has_tool_output: true }
    events:
      - text: Done.
`;

/** The request of a payment. */
export const PAY = {
  model: "antiphon-built-in",
  input: "pay",
  tools: [{ type: "mcp", server_label: "bank", require_approval: "never" }],
};

export interface GuardedServer extends TestMcpServer {
  readonly authorization: AuthorizationServer;
}

/**
 * An MCP server with the tools of `startModern` that asks for a token of an authorization server of its own. It says
 * where its metadata are, which are at no well-known place with `hidden`, and names the scope that it wants.
 */
export async function startGuarded(
  options: { readonly hidden?: boolean; readonly neededScope?: string; readonly resource?: string } = {},
): Promise<GuardedServer> {
  const authorization = await startAuthorizationServer();
  const ran: string[] = [];
  const heard: IncomingMessage["headers"][] = [];
  const handler = createMcpHandler(() => toolsOf(ran));
  const path = options.hidden === true ? "/about/this/resource" : "/.well-known/oauth-protected-resource/mcp";
  const server = await serveHttp((request, response) => {
    const origin = `http://${request.headers.host}`;
    if (request.url === path)
      return sendJson(response, {
        resource: options.resource ?? `${origin}/mcp`,
        authorization_servers: [authorization.issuer],
        scopes_supported: ["tickets:read"],
      });
    if (request.url !== "/mcp") return void response.writeHead(404).end();
    heard.push(request.headers);
    const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const scope = authorization.scopeOf(token);
    const { neededScope } = options;
    if (scope === null) {
      const challenge = `Bearer resource_metadata="${origin}${path}", scope="tickets:read"`;
      return void response.writeHead(401, { "www-authenticate": challenge }).end();
    }
    if (neededScope !== undefined && !scope.split(" ").includes(neededScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${neededScope}"`;
      return void response.writeHead(403, { "www-authenticate": challenge }).end();
    }
    void answerByFetch(handler.fetch, request, response);
  });
  return { url: `${server.url}/mcp`, heard, ran, authorization };
}
