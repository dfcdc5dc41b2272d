import type { ServerResponse } from "node:http";
import { ToolNotOpened } from "@antiphon/domain/hosted-tool.ts";
import { describe, expect, test } from "vitest";
import { serveHttp } from "../../kit/http-server.ts";
import { verifies } from "../../verifies.ts";
import { startScripted } from "./mcp-servers.ts";
import { called, mcpInput, type OpenMore, opened, ranCall } from "./opened-tool.ts";

const METADATA = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource"';

/** A server that refuses every request with this challenge. */
async function refusing(status: number, challenge: string): Promise<string> {
  const { url } = await serveHttp((_request, response) => refuse(response, status, challenge));
  return `${url}/mcp`;
}

function refuse(response: ServerResponse, status: number, challenge: string): void {
  response.writeHead(status, { "www-authenticate": challenge, "content-type": "application/json" });
  response.end('{"error":"no"}');
}

/** The error of the list of a server that cannot be opened. */
async function listError(input: Parameters<typeof mcpInput>[0], more: OpenMore = {}): Promise<string> {
  const error: unknown = await opened(mcpInput(input), more).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ToolNotOpened)) throw new Error("the server was opened", { cause: error });
  return error.message;
}

function operators(url: string, more: object = {}): OpenMore {
  const reach = { type: "url", url, headers: { authorization: "Bearer operators-secret" } } as const;
  const server = {
    label: "tickets",
    reach,
    description: null,
    allowedTools: null,
    requireApproval: null,
    owners: null,
    connectorIds: ["connector_gmail"],
    forwardsAuthorization: false,
    allowsLessApproval: false,
  };
  return { options: { servers: [{ ...server, ...more }] } };
}

describe("a server that wants an access token", () => {
  test("is named in the error, with what the request can do", async () => {
    verifies("tools.mcp.wanted-token-says-the-next-step");
    const url = await refusing(401, `Bearer ${METADATA}`);
    const without = await listError({ server_url: url });
    expect(without).toBe(
      "Error retrieving tool list from MCP server: 'shop'. Http status code: 401 (Unauthorized). The MCP server 'shop' needs an OAuth access token. Put a valid token into the member authorization of the tool.",
    );
    const refused = await listError({ server_url: url, authorization: "clients-secret" });
    expect(refused).toContain("The MCP server 'shop' refuses its access token. Put a valid token");
    expect(refused).not.toMatch(/clients-secret|127\.0\.0\.1|mcp\.example/);
  });

  test("of the operator is named by his label, with what he can do", async () => {
    const url = await refusing(401, `Bearer ${METADATA}`);
    for (const input of [
      { server_label: "tickets" },
      { server_label: "mail", connector_id: "connector_gmail" },
    ] as const) {
      const error = await listError(input, operators(url));
      expect(error).toContain(`The MCP server '${input.server_label}' refuses its access token.`);
      expect(error).toContain("Its operator can set a valid token in the headers of 'tickets' in MCP_SERVERS_FILE.");
      expect(error).not.toMatch(/operators-secret|127\.0\.0\.1/);
    }
    const forwarding = await listError({ server_label: "tickets" }, operators(url, { forwardsAuthorization: true }));
    expect(forwarding).toContain("Put a valid token into the member authorization of the tool.");
  });

  test("with more scopes says which", async () => {
    verifies("tools.mcp.wanted-token-says-the-next-step");
    const url = await refusing(403, 'Bearer error="insufficient_scope", scope="tickets:read tickets:write"');
    expect(await listError({ server_url: url, authorization: "t" })).toContain(
      "Http status code: 403 (Forbidden). The MCP server 'shop' needs a token with the scope 'tickets:read tickets:write'. Put a valid token with this scope into",
    );
    const unnamed = await refusing(403, "Bearer error=insufficient_scope");
    expect(await listError({ server_url: unnamed })).toContain("needs more scopes than its token has.");
  });

  test.each([
    [401, 'Basic realm="x"', "Http status code: 401 (Unauthorized)"],
    [403, "Bearer", "Http status code: 403 (Forbidden)"],
  ])("is another one than a server that refuses with %i and %s", async (status, challenge, text) => {
    const error = await listError({ server_url: await refusing(status, challenge) });
    expect(error).toBe(`Error retrieving tool list from MCP server: 'shop'. ${text}`);
  });

  test("for a call makes it fail, and the model is told: the server did nothing", async () => {
    const { url } = await startScripted({
      "tools/call": (_message, response) => refuse(response, 403, 'Bearer error="insufficient_scope", scope="pay"'),
    });
    const tool = await opened(mcpInput({ server_url: url, authorization: "t" }));
    const { item, output } = ranCall(await called(tool, "one"));
    expect(item).toMatchObject({
      status: "failed",
      error: { type: "http_error", code: 403, message: expect.stringContaining("a token with the scope 'pay'") },
    });
    expect(output).toMatch(/^The call failed: Http status code: 403 .*member authorization of the tool\.$/);
    await tool.close();
  });
});
