import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/config/config-error.ts";
import { readMcpServers } from "../../../src/config/mcp-servers-file.ts";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer } from "../../kit/test-server.ts";
import { readResponse } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { startModern } from "./mcp-servers.ts";

const EVERYTHING = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");

const SCENARIO = `
scenarios:
  - when: { input_contains: pay, has_tool_output: false }
    events:
      - call: { name: pay, namespace: bank, arguments: { amount: 3 } }
  - when: { input_contains: vault, has_tool_output: false }
    events:
      - call: { name: pay, namespace: vault, arguments: { amount: 3 } }
  - when: { input_contains: echo, has_tool_output: false }
    events:
      - call: { name: echo, namespace: local, arguments: { message: hi } }
  - when: { has_tool_output: true }
    events:
      - text: Done.
`;

async function serversFile(text: string): Promise<string> {
  const folder = temporaryFolder();
  const file = join(folder, "servers.yaml");
  await writeFile(file, text);
  return file;
}

async function serve(text: string, env: Readonly<Record<string, string>> = {}) {
  const server = await startTestServer({
    scenario: SCENARIO,
    env: { MCP_SERVERS_FILE: await serversFile(text), ...env },
  });
  return (input: string, tool: object) =>
    server.post("/v1/responses", { model: "antiphon-built-in", input, tools: [{ type: "mcp", ...tool }] });
}

describe("a server of the operator", () => {
  test("is named by its label or connector, gets the operator's headers, and needs no public address", async () => {
    const mcp = await startModern();
    const create = await serve(`
servers:
  bank:
    url: ${mcp.url}
    headers: { Authorization: Bearer operators }
    connector_ids: [connector_gmail]
`);
    for (const named of [{}, { connector_id: "connector_gmail" }]) {
      const response = await readResponse(
        await create("pay", { server_label: "bank", require_approval: "never", ...named }),
      );
      expect(response.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
      expect(JSON.stringify(response)).not.toMatch(/operators|127\.0\.0\.1/);
    }
    expect(mcp.heard.every(({ authorization }) => authorization === "Bearer operators")).toBe(true);
  });

  test("is a program that is spoken to over its input and output", async () => {
    const create = await serve(`
servers:
  local:
    command: ${process.execPath}
    args: [${EVERYTHING}, stdio]
    allowed_tools: [echo]
`);
    const response = await readResponse(await create("echo", { server_label: "local", require_approval: "never" }));
    expect(response.output).toMatchObject([
      { type: "mcp_list_tools", tools: [{ name: "echo" }] },
      { type: "mcp_call", output: "Echo: hi" },
      { type: "message" },
    ]);
  });

  test("that cannot be started refuses the response", async () => {
    const create = await serve("servers: { local: { command: /does/not/exist } }");
    expect((await create("echo", { server_label: "local" })).status).toBe(424);
  });

  test("keeps its approvals and tools, whatever the request says", async () => {
    const mcp = await startModern();
    const create = await serve(`
servers:
  bank:
    url: ${mcp.url}
    allowed_tools: { tool_names: [pay, look] }
    require_approval: { always: { tool_names: [pay] } }
`);
    const tool = { server_label: "bank", require_approval: "never", allowed_tools: ["pay", "refuse"] };
    const response = await readResponse(await create("pay", tool));
    expect(response.output).toMatchObject([
      { type: "mcp_list_tools", tools: [{ name: "pay" }] },
      { type: "mcp_approval_request", name: "pay" },
    ]);
    expect(mcp.ran).toEqual([]);
  });

  test.each([
    ["never", "never", "mcp_call"],
    ["{ never: { tool_names: [pay] } }", { never: { tool_names: ["pay"] } }, "mcp_call"],
    ["{ always: { tool_names: [look] } }", { always: { tool_names: ["look"] } }, "mcp_approval_request"],
    ["always", "always", "mcp_approval_request"],
  ])("gives requests that leave out require_approval its own: %s", async (written, echoed, made) => {
    verifies("tools.mcp.operators-approval-is-the-default");
    const mcp = await startModern();
    const create = await serve(`servers: { bank: { url: "${mcp.url}", require_approval: ${written} } }`);
    const response = await readResponse(await create("pay", { server_label: "bank" }));
    expect(response.tools).toMatchObject([{ type: "mcp", require_approval: echoed }]);
    expect(response.output[1]?.type).toBe(made);
    const careful = await readResponse(await create("pay", { server_label: "bank", require_approval: "always" }));
    expect(careful.output.at(-1)?.type).toBe("mcp_approval_request");
  });

  test("lets requests ask for less approval only where its operator allows it", async () => {
    verifies("tools.mcp.operators-approval-is-the-default");
    const mcp = await startModern();
    const bank = { url: mcp.url, require_approval: "always" };
    const create = await serve(
      JSON.stringify({ servers: { bank: { ...bank, allows_less_approval: true }, vault: bank } }),
    );
    for (const [members, made] of [
      [{ server_label: "bank", require_approval: "never" }, "mcp_call"],
      [{ server_label: "bank" }, "mcp_approval_request"],
      [{ server_label: "vault", require_approval: "never" }, "mcp_approval_request"],
    ] as const) {
      const input = members.server_label === "bank" ? "pay" : "open the vault";
      expect((await readResponse(await create(input, members))).output[1]?.type).toBe(made);
    }
    expect(mcp.ran).toEqual(["pay 3"]);
  });

  test("is unknown to owners who may not use it, and takes no secrets of requests", async () => {
    const mcp = await startModern();
    const text = `servers: { bank: { url: "${mcp.url}", owners: [other/project] }, open: { url: "${mcp.url}" } }`;
    const create = await serve(text);
    for (const [tool, said] of [
      [{ server_label: "bank" }, "no MCP server of this label"],
      [{ server_label: "open", authorization: "x" }, "sets the authorization"],
      [{ server_label: "open", headers: { "x-a": "b" } }, "sets the headers"],
    ] as const) {
      const reply = await create("pay", tool);
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(said)]);
    }
    expect(mcp.heard).toEqual([]);
  });

  test("is the only kind that MCP=operator allows, and MCP=off allows none", async () => {
    const text = "servers: { bank: { url: http://127.0.0.1:9 } }";
    const own = { server_label: "own", server_url: "https://mcp.example.com/" };
    const operator = await serve(text, { MCP: "operator" });
    expect(await (await operator("pay", own)).text()).toContain("only uses the MCP servers of its operator");
    const off = await serve(text, { MCP: "off" });
    expect(await (await off("pay", { server_label: "bank" })).text()).toContain("MCP=on");
  });
});

describe("the file of servers", () => {
  test("takes values of the environment", async () => {
    const file = await serversFile(`servers: { a: { url: "https://a.test", headers: { X: "k \${KEY}" } } }`);
    expect(readMcpServers(file, { KEY: "1" })).toMatchObject([{ label: "a", headers: { X: "k 1" }, command: null }]);
  });

  test.each([
    ["servers: 1", "no member 'servers'"],
    ["servers: { a: {} }", "either url or command"],
    ["servers: { a: { url: 'ftp://a' } }", "not an http or https URL"],
    ["servers: { a: { url: 'https://a.test', secret: x } }", "secret of server 'a' is unknown"],
    ["servers: { 'a b': { url: 'https://a.test' } }", "label"],
    ["servers: { a: { url: 'https://a.test', headers: { X: '${NONE}' } } }", "NONE"],
    ["servers: { a: { url: 'https://a.test', owners: 1 } }", "owners"],
    ["servers: { a: { url: 'https://a.test', require_approval: sometimes } }", "require_approval"],
    ["servers: { a: { url: 'https://a.test', allows_less_approval: some } }", "allows_less_approval"],
    ["servers: {", "cannot be read"],
  ])("%s stops the start", async (text, said) => {
    const file = await serversFile(text);
    expect(() => readMcpServers(file, {})).toThrow(ConfigError);
    expect(() => readMcpServers(file, {})).toThrow(said);
  });
});
