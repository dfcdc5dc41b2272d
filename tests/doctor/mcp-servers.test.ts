import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runDoctor } from "../../src/commands/doctor-command.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { verifies } from "../verifies.ts";

const COUNTER = join(import.meta.dirname, "../tools/mcp/counting-program.ts");

/** Runs the command with these entries in `MCP_SERVERS_FILE`, without a model server. */
async function doctor(servers: object, ...argv: readonly string[]) {
  const folder = temporaryFolder();
  const file = join(folder, "servers.yaml");
  writeFileSync(file, JSON.stringify({ servers }));
  const printed: string[] = [];
  const environment = {
    DATA_DIR: folder,
    MCP_SERVERS_FILE: file,
    MCP_LIST_TIMEOUT_MS: "60s",
    FIND_LOCAL_DAEMON: "false",
    CODE_ENGINE: "off",
    PORT: "0",
    STT_PORT: "0",
  };
  const output = { print: (text: string) => void printed.push(text), note: () => {}, isTerminal: false };
  return { code: await runDoctor(argv, environment, output), printed: printed.join("\n") };
}

async function guardedServer(): Promise<string> {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="http://127.0.0.1/x"' }).end();
  });
  return `${url}/mcp`;
}

test("servers that work are told with their tools, whoever may use them", async () => {
  verifies("doctor.mcp.servers-are-tried");
  const { url } = await startModern();
  const servers = {
    shop: { url, owners: ["acme"], allowed_tools: ["look", "pay"] },
    counter: { command: process.execPath, args: [COUNTER] },
  };
  const { code, printed } = await doctor(servers);
  expect(code).toBe(0);
  expect(printed).toMatch(/✓ works +shop +2 tools, \d+ ms\n +✓ works +counter +4 tools, \d+ ms/);
});

test("servers that do not work are told with what is wrong and what would help", async () => {
  verifies("doctor.mcp.servers-are-tried");
  const guarded = await guardedServer();
  const servers = {
    wiki: { url: guarded },
    token: { url: guarded, headers: { authorization: "Bearer the-secret-of-doctor" } },
    forwarded: { url: guarded, forwards_authorization: true },
    gone: { url: "http://127.0.0.1:9/mcp" },
    missing: { command: "/nonexistent/program" },
    broken: { command: process.execPath, args: ["-e", "console.error('no such database'); process.exit(1)"] },
  };
  const { code, printed } = await doctor(servers);
  expect(code).toBe(1);
  expect(printed).toMatch(/✗ fails +wiki .*antiphon mcp login wiki/);
  expect(printed).toMatch(/✗ fails +token .*in the headers of 'token' in MCP_SERVERS_FILE/);
  expect(printed).toMatch(/\? unknown +forwarded .*authorization of each request/);
  expect(printed).toMatch(/✗ fails +gone .*Look at url and headers of 'gone'/);
  expect(printed).toMatch(/✗ fails +missing .*said: .*not found.*Look at command/);
  expect(printed).toMatch(/✗ fails +broken .*said: no such database.*Look at command/);
  expect(printed).not.toContain("the-secret-of-doctor");
});

test("the same comes as JSON", async () => {
  verifies("doctor.mcp.servers-are-tried");
  const { url } = await startModern();
  const { code, printed } = await doctor({ shop: { url }, gone: { url: "http://127.0.0.1:9/mcp" } }, "--json");
  expect(code).toBe(1);
  expect(JSON.parse(printed)).toMatchObject({
    mcp_servers: [
      { mcp_server: "shop", verdict: "works", tools: ["pay", "look", "again", "wait", "refuse"], why: null },
      { mcp_server: "gone", verdict: "fails", tools: [], why: expect.stringContaining("'gone'") },
    ],
  });
});
