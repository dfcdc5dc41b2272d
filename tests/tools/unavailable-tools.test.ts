import { expect, test } from "vitest";
import { runKeysCommand } from "../../src/commands/keys-command.ts";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const FUNCTION = { type: "function", name: "f", parameters: { type: "object", properties: {} } };
const SEARCH = { type: "web_search" };
const NEEDED = [
  { type: "file_search", vector_store_ids: ["vs_1"] },
  { type: "code_interpreter", container: "cntr_1" },
  { type: "mcp", server_label: "a", server_url: "https://a.test" },
];

async function serve(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env: { WEB_SEARCH_PROVIDER: "none", ...env } });
}

async function create(server: TestServer, members: object, apiKey = server.apiKey): Promise<Response> {
  return await server.fetch("/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: "antiphon-built-in", input: "Hello", ...members }),
  });
}

async function refusalOf(reply: Response): Promise<{ readonly param: string; readonly message: string }> {
  expect(reply.status).toBe(400);
  const { error }: { error: { param: string; message: string } } = JSON.parse(await reply.text());
  return error;
}

test("a tool that this server lacks is echoed, not offered, and named in a header", async () => {
  verifies("tools.missing.omitted-and-named");
  const server = await serve();
  const tools = [SEARCH, { type: "code_interpreter", container: { type: "auto" } }, FUNCTION];
  const reply = await create(server, { tools });
  expect(reply.headers.get("x-antiphon-omitted-tools")).toBe("web_search, code_interpreter");
  expect((await readResponse(reply)).tools).toMatchObject([
    { type: "web_search", filters: null, search_context_size: "medium", user_location: { type: "approximate" } },
    { type: "code_interpreter", container: { type: "auto" } },
    { type: "function" },
  ]);
  const stream = await create(server, { tools, stream: true });
  expect(stream.headers.get("x-antiphon-omitted-tools")).toBe("web_search, code_interpreter");
  expect((await readStream(stream)).final.status).toBe("completed");
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toContain('antiphon_tools_omitted_total{tool="web_search"} 2');
  expect((await create(server, { tools: [FUNCTION] })).headers.get("x-antiphon-omitted-tools")).toBeNull();
});

test("a tool that the server does not offer is left out like any other, unless the request depends on it", async () => {
  verifies("tools.missing.omitted-and-named");
  const server = await serve({ TOOLS: "web_search" });
  const programs = { type: "programmatic_tool_calling" };
  const reply = await create(server, { tools: [programs, FUNCTION] });
  expect(reply.headers.get("x-antiphon-omitted-tools")).toBe("programmatic_tool_calling");
  expect((await readResponse(reply)).tools).toMatchObject([programs, { type: "function" }]);
  const named = { type: "function", name: "f" };
  const choice = (mode: string, ...tools: object[]): object => ({ type: "allowed_tools", mode, tools });
  for (const tool_choice of [choice("auto", programs), choice("required", programs, named)])
    expect((await create(server, { tools: [programs, FUNCTION], tool_choice })).status).toBe(200);
  const refused = async (tool_choice: object): Promise<string> =>
    (await refusalOf(await create(server, { tools: [FUNCTION, programs], tool_choice }))).param;
  expect(await refused(programs)).toBe("tools[1]");
  expect(await refused(choice("required", programs))).toBe("tools[1]");
});

test("a stream that is opened before its model has answered names them too", async () => {
  verifies("tools.missing.omitted-and-named");
  const answers = Promise.withResolvers<void>();
  const upstream = await serveChat(async (response) => {
    await answers.promise;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(textChunk("Hi"), lastChunk("stop"), "[DONE]"));
  });
  const server = await serve({ MODEL_BASE_URL: `${upstream.origin}/v1`, STREAM_START_WAIT_MS: "0" });
  const reply = await create(server, { tools: [SEARCH], stream: true });
  expect(reply.headers.get("x-antiphon-omitted-tools")).toBe("web_search");
  answers.resolve();
  expect((await readStream(reply)).final.status).toBe("completed");
});

test("a request that depends on a missing tool is refused, and told what would help", async () => {
  verifies("tools.missing.needed-is-refused");
  const server = await serve({ TOOLS: "web_search" });
  for (const tool_choice of [
    { type: "web_search" },
    { type: "web_search_preview" },
    "required",
    { type: "allowed_tools", mode: "required", tools: [SEARCH] },
  ]) {
    const { param, message } = await refusalOf(await create(server, { tools: [SEARCH], tool_choice }));
    expect([param, message]).toEqual(["tools[0]", expect.stringContaining("WEB_SEARCH_PROVIDER")]);
  }
  for (const tool of NEEDED) {
    const { param, message } = await refusalOf(await create(server, { tools: [SEARCH, tool] }));
    expect([param, message]).toEqual(["tools[1]", expect.stringContaining("TOOLS")]);
  }
  const kept = { type: "allowed_tools", mode: "auto", tools: [SEARCH, { type: "function", name: "f" }] };
  for (const tool_choice of ["required", kept, "none"])
    expect((await create(server, { tools: [SEARCH, FUNCTION], tool_choice })).status).toBe(200);
});

test("TOOLS_UNAVAILABLE=refuse refuses every tool that is missing", async () => {
  const server = await serve({ TOOLS_UNAVAILABLE: "refuse" });
  const { param, message } = await refusalOf(await create(server, { tools: [FUNCTION, SEARCH] }));
  expect([param, message]).toEqual(["tools[1]", expect.stringContaining("WEB_SEARCH_PROVIDER")]);
});

test("TOOLS=none leaves the client its own functions", async () => {
  const server = await serve({ TOOLS: "none" });
  const reply = await create(server, { tools: [FUNCTION, { type: "apply_patch" }] });
  expect([reply.status, reply.headers.get("x-antiphon-omitted-tools")]).toEqual([200, "apply_patch"]);
});

test("a key with its own list of tools has no others", async () => {
  const server = await serve();
  const printed: string[] = [];
  const say = { print: (text: string) => void printed.push(text), note: () => {} };
  const at = `--data-dir=${server.dataDir}`;
  await runKeysCommand(["create", "--name", "narrow", "--tools", "apply_patch", at], {}, say);
  const [key = ""] = printed;
  const patch = await create(server, { tools: [{ type: "apply_patch" }] }, key);
  expect([patch.status, patch.headers.get("x-antiphon-omitted-tools")]).toEqual([200, null]);
  const shell = await create(server, { tools: [{ type: "shell" }] }, key);
  expect([shell.status, shell.headers.get("x-antiphon-omitted-tools")]).toEqual([200, "shell"]);
  const forced = { tools: [{ type: "shell" }], tool_choice: { type: "shell" } };
  expect((await refusalOf(await create(server, forced, key))).message).toContain("antiphon keys create --tools");
  await expect(runKeysCommand(["create", "--name", "x", "--tools", "nonsense", at], {}, say)).rejects.toThrow(
    "nonsense",
  );
});

test("secrets of tools are not echoed", async () => {
  verifies("tools.mcp.secrets-are-redacted");
  const server = await serve({ TOOLS: "none" });
  const secret = "very-secret";
  const mcp = {
    type: "mcp",
    server_label: "a",
    server_url: `https://a.test/${secret}?k=${secret}`,
    authorization: secret,
    headers: { "x-key": secret },
  };
  const { message } = await refusalOf(await create(server, { tools: [mcp] }));
  expect(message).not.toContain(secret);
  const { echoHostedTool } = await import("../../src/responses-api/offered-tools/echo-hosted-tool.ts");
  expect(echoHostedTool({ ...mcp, type: "mcp" })).toEqual({
    type: "mcp",
    allowed_tools: null,
    authorization: "<redacted>",
    headers: { "x-key": "<redacted>" },
    require_approval: "always",
    server_description: null,
    server_label: "a",
    server_url: "https://a.test/<redacted>",
  });
});
