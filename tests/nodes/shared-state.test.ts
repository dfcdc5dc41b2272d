import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, onTestFinished, test } from "vitest";
import { runKeysCommand } from "../../src/commands/keys-command.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { startResponsesApi } from "../../src/servers/responses-api.ts";
import { compact, create, MODEL, textOf, user } from "../context/compact.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../kit/test-server.ts";
import { withSealKeys } from "../kit/with-seal-keys.ts";
import { readResponse } from "../responses/read-stream.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";

const API_KEY = "sk-shared-state-0123456789";
const IS_SKIPPED = whyNoPostgres() !== undefined;

/** The model pays 3, and then says so. */
const PAYING = `
scenarios:
  - when: { input_contains: pay, has_tool_output: false }
    events:
      - call: { name: pay, namespace: shop, arguments: { amount: 3 } }
  - when: { input_contains: pay, has_tool_output: true }
    events:
      - text: Paid.
`;

/** Two servers with data folders of their own, on one database. */
async function startTwo(
  options: TestServerOptions = {},
): Promise<{ readonly one: TestServer; readonly other: TestServer; readonly database: string }> {
  const database = await databaseOfTest();
  const start = async (): Promise<TestServer> => {
    const env = { DATABASE_URL: database, API_KEYS: API_KEY, EGRESS_ALLOW: "127.0.0.1", ...options.env };
    const server = await startTestServer({ ...options, env, log: silentLogger });
    return server;
  };
  return { one: await start(), other: await start(), database };
}

test.skipIf(IS_SKIPPED)(
  "an approval of an MCP call is spent once, whichever servers are asked at the same time",
  async () => {
    const mcp = await startModern();
    const { one, other } = await startTwo({ scenario: PAYING });
    const tool = { type: "mcp", server_label: "shop", server_url: mcp.url };
    const ask = (server: TestServer, members: object): Promise<Response> =>
      server.post("/v1/responses", { model: MODEL, input: "pay", tools: [tool], ...members });
    const asked = await readResponse(await ask(one, {}));
    const request = asked.output.find(({ type }) => type === "mcp_approval_request");
    const approval = { type: "mcp_approval_response", approval_request_id: request?.id, approve: true };
    const replies = await Promise.all(
      [one, other, one, other, one, other].map((server) =>
        ask(server, { previous_response_id: asked.id, input: [approval] }),
      ),
    );
    const bodies = await Promise.all(replies.map((reply) => reply.text()));
    expect(mcp.ran).toEqual(["pay 3"]);
    expect(bodies.filter((body) => body.includes("paid 3"))).toHaveLength(1);
    expect(bodies.filter((body) => body.includes("was used already"))).toHaveLength(5);
  },
);

test.skipIf(IS_SKIPPED)("a list of MCP tools that one server fetched is used by the others", async () => {
  const mcp = await startModern();
  const { one, other } = await startTwo({ scenario: PAYING });
  const tool = { type: "mcp", server_label: "shop", server_url: mcp.url, require_approval: "never" };
  const first = await readResponse(await one.post("/v1/responses", { model: MODEL, input: "hello", tools: [tool] }));
  expect(first.output.map(({ type }) => type)).toContain("mcp_list_tools");
  const lists = (): number => mcp.heard.filter((headers) => headers["mcp-method"] === "tools/list").length;
  expect(lists()).toBe(1);
  const next = { model: MODEL, input: "and again", tools: [tool], previous_response_id: first.id };
  const second = await readResponse(await other.post("/v1/responses", next));
  expect(second.output.map(({ type }) => type)).not.toContain("mcp_list_tools");
  expect(lists()).toBe(1);
});

test.skipIf(IS_SKIPPED)("a key that is made works on every server, and a revoked one soon on none", async () => {
  const { one, other, database } = await startTwo();
  const said: string[] = [];
  const say = { print: (text: string) => said.push(text), note: (text: string) => said.push(text) };
  const environment = { DATABASE_URL: database, DATA_DIR: one.dataDir };
  await runKeysCommand(["create", "--name", "test"], environment, say);
  const [note = "", key = ""] = said;
  const headers = { authorization: `Bearer ${key}` };
  const statuses = async (): Promise<readonly number[]> =>
    await Promise.all([one, other].map(async (server) => (await server.fetch("/v1/models", { headers })).status));
  expect(await statuses()).toEqual([200, 200]);
  await runKeysCommand(["revoke", /key_\w+/.exec(note)?.[0] ?? ""], environment, say);
  await expect.poll(statuses).toEqual([401, 401]);
});

test.skipIf(IS_SKIPPED)(
  "of servers that start at the same time on an empty database, one makes the first key",
  async () => {
    const DATABASE_URL = await databaseOfTest();
    const start = async () => {
      const DATA_DIR = temporaryFolder();
      const config = loadConfig(withSealKeys({ DATABASE_URL, DATA_DIR, PORT: "0", CODE_ENGINE: "off" }), []);
      const server = await startResponsesApi(config, silentLogger);
      onTestFinished(() => server.close());
      return server;
    };
    const servers = await Promise.all([start(), start(), start()]);
    const made = servers.flatMap(({ keys }) => keys.firstKey ?? []);
    expect(made).toHaveLength(1);
    for (const { url } of servers) {
      const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${made[0] ?? ""}` } });
      expect(reply.status).toBe(200);
    }
  },
);

test.skipIf(IS_SKIPPED)("what one server sealed is opened by another", async () => {
  const { one, other } = await startTwo();
  const sealed = await compact(one, { input: "My name is Ada." });
  const answer = await create(other, { input: [...sealed.output, user("What is my name?")] });
  expect(textOf(answer.output)).toBe("Your name is Ada.");
});
