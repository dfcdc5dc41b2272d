import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/config/config-error.ts";
import { readMcpServers } from "../../../src/config/mcp-servers-file.ts";
import { serveHttp } from "../../kit/http-server.ts";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer } from "../../kit/test-server.ts";
import { readResponse } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { CLIENT } from "./authorization-server.ts";
import { BANK_SCENARIO, type GuardedServer, PAY, startGuarded } from "./guarded-server.ts";

async function serversFile(text: string): Promise<string> {
  const file = join(temporaryFolder(), "servers.yaml");
  await writeFile(file, text);
  return file;
}

/** The server with one MCP server of the operator, and everything that it logs. */
async function serve(oauth: string, url: string, env: Readonly<Record<string, string>> = {}) {
  const logged: string[] = [];
  const file = await serversFile(`servers: { bank: { url: "${url}", oauth: { ${oauth} } } }`);
  const server = await startTestServer({
    scenario: BANK_SCENARIO,
    log: pino({ level: "trace" }, { write: (line: string) => void logged.push(line) }),
    env: { MCP_SERVERS_FILE: file, KEEP_EXCHANGES: "stored", ...env },
  });
  const pay = (): Promise<Response> => server.post("/v1/responses", PAY);
  return { server, pay, logged };
}

const OF_CLIENT = `client_id: ${CLIENT.id}, client_secret: ${CLIENT.secret}`;

function payments(mcp: GuardedServer): number {
  return mcp.ran.length;
}

test("a server of the same address without this client never acts by its token", async () => {
  verifies("tools.mcp.tokens-stay-with-their-server");
  const mcp = await startGuarded();
  const file = await serversFile(`
servers:
  bank: { url: "${mcp.url}", oauth: { ${OF_CLIENT} } }
  open: { url: "${mcp.url}", forwards_authorization: true }
`);
  const server = await startTestServer({ scenario: BANK_SCENARIO, env: { MCP_SERVERS_FILE: file } });
  expect((await server.post("/v1/responses", PAY)).status).toBe(200);
  const [tool] = PAY.tools;
  const open = await server.post("/v1/responses", { ...PAY, tools: [{ ...tool, server_label: "open" }] });
  expect([open.status, await open.text()]).toEqual([424, expect.stringContaining("The MCP server 'open' needs")]);
});

describe("a client of the operator", () => {
  test("gets a token once for many responses, for this server and its scopes, and nobody sees it", async () => {
    verifies("tools.mcp.client-credentials");
    const mcp = await startGuarded();
    const { server, pay, logged } = await serve(OF_CLIENT, mcp.url);
    const replies = await Promise.all(Array.from({ length: 8 }, pay));
    const bodies = await Promise.all(replies.map(readResponse));
    expect(bodies.map(({ output }) => output.map(({ type }) => type))).toEqual(
      bodies.map(() => ["mcp_list_tools", "mcp_call", "message"]),
    );
    expect(payments(mcp)).toBe(8);
    expect(mcp.authorization.requests).toEqual([
      {
        grant_type: "client_credentials",
        scope: "tickets:read",
        resource: mcp.url,
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
      },
    ]);
    const kept = await Promise.all(
      bodies.map(async ({ id }) => {
        const exchanges = await server.fetch(`/v1/responses/${id}/exchanges`);
        const events = await server.fetch(`/v1/responses/${id}`);
        return `${await exchanges.text()} ${await events.text()}`;
      }),
    );
    const seen = JSON.stringify([bodies, kept, logged]);
    expect(seen).toContain("tools/call"); // The exchanges are there.
    for (const secret of mcp.authorization.secrets) expect(seen).not.toContain(secret);
  });

  test("gets another token when the server refuses its own, once, and the call takes effect once", async () => {
    verifies("tools.mcp.tokens-are-renewed");
    const mcp = await startGuarded();
    const { pay } = await serve(`${OF_CLIENT}, scopes: [a, b]`, mcp.url);
    await readResponse(await pay());
    mcp.authorization.revokeAll("access");
    const [, call] = (await readResponse(await pay())).output;
    expect(call).toMatchObject({ type: "mcp_call", output: "paid 3", error: null });
    expect(payments(mcp)).toBe(2);
    expect(mcp.authorization.requests.map(({ scope }) => scope)).toEqual(["a b", "a b"]);
  });

  test("gets another token before its own ends", async () => {
    verifies("tools.mcp.tokens-are-renewed");
    const mcp = await startGuarded();
    mcp.authorization.behaviour.tokenSeconds = 0;
    const { pay } = await serve(OF_CLIENT, mcp.url);
    await readResponse(await pay());
    const asked = mcp.authorization.requests.length;
    expect(asked).toBeGreaterThan(1);
    mcp.authorization.behaviour.tokenSeconds = 3600;
    await readResponse(await pay());
    await readResponse(await pay());
    expect(mcp.authorization.requests).toHaveLength(asked + 1);
    expect(mcp.heard.every(({ authorization }) => authorization !== undefined)).toBe(true);
  });

  test("finds the metadata where the server says, and the secret in a file", async () => {
    const mcp = await startGuarded({ hidden: true });
    const secret = await serversFile(`${CLIENT.secret}\n`);
    const { pay } = await serve(`client_id: ${CLIENT.id}, client_secret_file: ${secret}`, mcp.url);
    expect((await readResponse(await pay())).output[1]).toMatchObject({ output: "paid 3" });
  });
});

describe("a token that cannot be had is told with the next step", () => {
  async function refusal(mcp: GuardedServer, oauth = OF_CLIENT, env = {}): Promise<string> {
    const { pay, logged } = await serve(oauth, mcp.url, env);
    const reply = await pay();
    const text = await reply.text();
    expect(reply.status).toBe(424);
    for (const secret of [...mcp.authorization.secrets, "wrong-secret", "127.0.0.1"])
      expect(text).not.toContain(secret);
    for (const secret of [...mcp.authorization.secrets, "wrong-secret"]) expect(logged.join("")).not.toContain(secret);
    return text;
  }

  test("when the client is refused", async () => {
    verifies("tools.mcp.wanted-token-says-the-next-step");
    const text = await refusal(await startGuarded(), `client_id: ${CLIENT.id}, client_secret: wrong-secret`);
    expect(text).toContain("The MCP server 'bank' needs an OAuth access token, and there is none");
    expect(text).toContain(
      "its authorization server answers 'invalid_client'. Its operator can correct oauth of 'bank'",
    );
  });

  test("when the authorization server has another name than it should", async () => {
    verifies("tools.mcp.tokens-go-to-their-server");
    const mcp = await startGuarded();
    mcp.authorization.behaviour.claimedIssuer = "https://evil.example";
    expect(await refusal(mcp)).toContain("its authorization server has another name than it should");
    expect(mcp.authorization.requests).toEqual([]);
  });

  test("when the server names another authorization server than the operator", async () => {
    verifies("tools.mcp.tokens-go-to-their-server");
    const mcp = await startGuarded();
    const text = await refusal(mcp, `${OF_CLIENT}, issuer: "https://login.example"`);
    expect(text).toContain("does not name the authorization server of the operator's settings");
    expect(mcp.authorization.requests).toEqual([]);
  });

  test("when the metadata are of another server", async () => {
    verifies("tools.mcp.tokens-go-to-their-server");
    const mcp = await startGuarded({ resource: "https://bank.example/mcp" });
    expect(await refusal(mcp)).toContain("its resource metadata describe another server");
    expect(mcp.authorization.requests).toEqual([]);
  });

  test("when the token lacks a scope", async () => {
    const text = await refusal(await startGuarded({ neededScope: "tickets:write" }));
    expect(text).toContain("needs a token with the scope 'tickets:write'. Its operator can correct oauth of 'bank'");
  });

  test("when the authorization server does not answer in time", async () => {
    const { url } = await serveHttp(() => {});
    const { pay } = await serve(OF_CLIENT, `${url}/mcp`, { MCP_LIST_TIMEOUT_MS: "300" });
    const reply = await pay();
    expect([reply.status, await reply.text()]).toEqual([424, expect.stringContaining("did not answer in time")]);
  });
});

describe("the operator's file", () => {
  test.each([
    ["command: x, oauth: {}", "oauth of server 'bank' is given, but it is a program"],
    ["url: 'http://a/', headers: { Authorization: x }, oauth: {}", "is given beside a header Authorization"],
    ["url: 'http://a/', oauth: 3", "oauth of server 'bank' is not a map"],
    ["url: 'http://a/', oauth: { secret: x }", "oauth.secret of server 'bank' is unknown"],
    ["url: 'http://a/', oauth: { grant: password }", "oauth.grant of server 'bank' is neither login nor"],
    ["url: 'http://a/', oauth: { grant: client_credentials }", "needs client_id and client_secret"],
    ["url: 'http://a/', oauth: { client_secret: x }", "has a client_secret without a client_id"],
    ["url: 'http://a/', oauth: { client_secret: x, client_secret_file: y }", "has both client_secret and"],
    ["url: 'http://a/', oauth: { client_id: x, client_secret_file: /no/such }", "names a file that cannot be read"],
    ["url: 'http://a/', oauth: { issuer: x }", "oauth.issuer of server 'bank' is not a URL"],
  ])("says what is wrong with %s", async (entry, complaint) => {
    const file = await serversFile(`servers: { bank: { ${entry} } }`);
    expect(() => readMcpServers(file, {})).toThrow(ConfigError);
    expect(() => readMcpServers(file, {})).toThrow(complaint);
  });
});
