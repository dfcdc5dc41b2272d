import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startToolServers } from "../clients/tool-servers.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { CODE_ENGINE } from "../tools/code-engines.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";

const others = await startToolServers();
const server = await startTestServer({ env: others.env });
afterAll(() => server.close());

/** The official client, connected with this key. */
async function connect(to: TestServer, apiKey = to.apiKey): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${to.url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

async function callTool(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError = false, structuredContent = null } = await client.callTool({ name, arguments: args });
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text, isError, structuredContent };
}

test("an MCP client lists the tools that its key may use", async () => {
  verifies("mcp-server.tools.by-key");
  const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
  const client = await connect(server);
  expect(await names(client)).toEqual(
    expect.arrayContaining(["file_search", "list_vector_stores", "web_search", "list_responses", "get_response"]),
  );
  expect(client.getInstructions()).toContain("file_search");
  const bare = await startTestServer({ env: { TOOLS: "mcp", WEB_SEARCH_PROVIDER: "none" } });
  expect(await names(await connect(bare))).toEqual(["list_responses", "get_response"]);
});

test("it searches files in the vector stores of its owner, and hears what is wrong", async () => {
  verifies("mcp-server.tools.run-here");
  const storeId = await createStore(server, [await upload(server, "herons.txt", "A heron waits for fish.")]);
  await takenIn(server, storeId);
  const client = await connect(server);
  expect((await callTool(client, "list_vector_stores", {})).structuredContent).toMatchObject({
    stores: expect.arrayContaining([expect.objectContaining({ id: storeId, name: "Notes", files: 1 })]),
  });
  const search = { vector_store_ids: [storeId], queries: ["heron fish"] };
  expect(await callTool(client, "file_search", search)).toMatchObject({
    isError: false,
    text: expect.stringMatching(/herons\.txt[^]*A heron waits for fish\./),
  });
  const missing = await callTool(client, "file_search", { ...search, vector_store_ids: ["vs_gone"] });
  expect(missing).toMatchObject({ isError: true, text: expect.stringContaining("vs_gone") });
  const wrong = await callTool(client, "file_search", { vector_store_ids: [storeId], queries: [] });
  expect(wrong.isError).toBe(true);
});

test("it runs Python, and goes on in the container that the answer names", { timeout: 60_000 }, async () => {
  verifies("mcp-server.tools.run-here");
  const coding = await startTestServer({ env: CODE_ENGINE });
  const client = await connect(coding);
  const first = await callTool(client, "code_interpreter", { code: "x = 20\nprint(x + 1)" });
  expect([first.isError, first.text]).toEqual([false, expect.stringContaining("21")]);
  const { container_id } = Object(first.structuredContent);
  expect((await callTool(client, "code_interpreter", { code: "x + 3", container_id })).text).toContain("23");
});

test("a call ends when its client leaves", { timeout: 60_000 }, async () => {
  verifies("mcp-server.tools.run-here");
  const coding = await startTestServer({ env: CODE_ENGINE });
  const leaving = new AbortController();
  const params = { name: "code_interpreter", arguments: { code: "import time\ntime.sleep(600)" } };
  const asked = coding.fetch("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal: leaving.signal,
  });
  const metrics = async (): Promise<string> => await (await coding.fetch("/metrics")).text();
  await expect.poll(metrics, { timeout: 30_000 }).toMatch(/antiphon_code_sessions\S* 1/);
  leaving.abort();
  await expect(asked.then((reply) => reply.text())).rejects.toThrow("aborted");
  await expect.poll(metrics, { timeout: 30_000 }).toMatch(/antiphon_tool_calls_total\{[^}]*code_interpreter[^}]*\} 1/);
});

test("it searches the web", async () => {
  verifies("mcp-server.tools.run-here");
  const { text, isError } = await callTool(await connect(server), "web_search", { queries: ["herons water"] });
  expect([isError, text]).toEqual([false, expect.stringContaining("http")]);
});

test("it reads the stored responses of its owner, as tools and as resources", async () => {
  verifies("mcp-server.responses.readable");
  const made = await readResponse(await server.post("/v1/responses", { model: "antiphon-built-in", input: "Hello" }));
  const client = await connect(server);
  const listed = await callTool(client, "list_responses", { limit: 1 });
  expect(listed.structuredContent).toMatchObject({ responses: [{ id: made.id, status: "completed" }] });
  expect((await callTool(client, "get_response", { response_id: made.id })).text).toContain(made.id);
  expect(await callTool(client, "get_response", { response_id: "resp_gone" })).toMatchObject({ isError: true });
  const { resources } = await client.listResources();
  const uri = `antiphon://responses/${made.id}`;
  expect(resources.map((one) => one.uri)).toContain(uri);
  const [content] = (await client.readResource({ uri })).contents;
  expect(JSON.parse(content !== undefined && "text" in content ? content.text : "")).toEqual(made);
  await expect(client.readResource({ uri: "antiphon://responses/resp_gone" })).rejects.toThrow("No response");
});

test("it needs a key, its calls count against the limits, and another owner's things are not there", async () => {
  verifies("mcp-server.access.as-the-api");
  await expect(connect(server, "sk-wrong")).rejects.toThrow("invalid_api_key");
  const API_KEYS = "sk-ours-0123456789=org_a/project_a,sk-theirs-0123456789=org_a/project_b";
  const shared = await startTestServer({ env: { API_KEYS, RATE_LIMIT_REQUESTS_PER_MINUTE: "3" } });
  const hello = { model: "antiphon-built-in", input: "Hello" };
  const made = await readResponse(await shared.post("/v1/responses", hello));
  const ours = await connect(shared, "sk-ours-0123456789");
  const theirs = await connect(shared, "sk-theirs-0123456789");
  const asked = { response_id: made.id };
  expect(await callTool(ours, "get_response", asked)).toMatchObject({ isError: false });
  expect(await callTool(theirs, "get_response", asked)).toMatchObject({ isError: true });
  expect((await theirs.listResources()).resources).toEqual([]);
  await callTool(ours, "get_response", asked);
  await expect(callTool(ours, "get_response", asked)).rejects.toThrow("rate_limit_error");
  await callTool(theirs, "get_response", asked);
});

test("it can be switched off, and takes one JSON message at a time", async () => {
  verifies("mcp-server.access.as-the-api");
  const closed = await startTestServer({ env: { SERVE_MCP: "false" } });
  expect((await closed.post("/mcp", {})).status).toBe(404);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = async (body: string) => await server.fetch("/mcp", { method: "POST", headers, body });
  for (const body of ["[]", "{", '{"jsonrpc":"2.0"}']) expect((await post(body)).status).toBe(400);
  expect((await server.fetch("/mcp")).status).toBe(405);
});
