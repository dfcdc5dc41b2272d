import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../../kit/test-server.ts";
import { checkStreamLaws } from "../../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { startEverything, startOfficial } from "./mcp-servers.ts";

const SIZE = z.object({ size: z.enum(["small", "large"]), gift: z.boolean().default(false) });
const NAME = z.object({ name: z.string().min(1) });
const PROGRAM = join(import.meta.dirname, "asking-program.ts");

type Reply = ResponseBody | { readonly status: number; readonly error: { readonly message: string } };

const SCENARIO = `
scenarios:
${["order", "twice", "visit", "trigger-elicitation-request", "get-sum"]
  .map(
    (name) => `
  - when: { input_contains: "call ${name}", has_tool_output: false }
    events: [{ call: { name: ${name}, namespace: shop, arguments: ${name === "get-sum" ? "{ a: 2, b: 3 }" : "{ sku: tea }"} } }]`,
  )
  .join("")}
  - when: { has_tool_output: true }
    events: [{ text: Done. }]
`;

/** A server of the newer protocol. `runs`: each time that a tool is called, and what it does in the end. */
async function startAskingServer() {
  const runs: string[] = [];
  const says = (text: string) => ({ content: [{ type: "text" as const, text }] });
  const size = inputRequired.elicit({ message: "Which size?", requestedSchema: SIZE });
  const { url } = await startOfficial(() => {
    const server = new McpServer({ name: "asking", version: "1.0.0" });
    const input = { inputSchema: z.object({ sku: z.string() }) };
    server.registerTool("order", input, ({ sku }, { mcpReq }) => {
      runs.push(`order ${sku}`);
      const { inputResponses } = mcpReq;
      if (inputResponses === undefined) return inputRequired({ inputRequests: { size }, requestState: "cart-7" });
      const content = acceptedContent(inputResponses, "size", SIZE);
      const state: unknown = mcpReq.requestState();
      return says(content === undefined ? "not ordered" : `${sku} ${content.size} ${content.gift} ${String(state)}`);
    });
    server.registerTool("twice", input, (_args, { mcpReq: { inputResponses } }) => {
      const name = inputRequired.elicit({ message: "For whom?", requestedSchema: NAME });
      if (inputResponses === undefined) return inputRequired({ inputRequests: { size, name } });
      return says(JSON.stringify([acceptedContent(inputResponses, "size"), acceptedContent(inputResponses, "name")]));
    });
    server.registerTool("visit", input, (_args, { mcpReq: { inputResponses } }) => {
      const page = inputRequired.elicitUrl({ message: "Log in there", url: "https://login.example.com/7" });
      if (inputResponses === undefined) return inputRequired({ inputRequests: { page } });
      return says(JSON.stringify(inputResponses["page"]));
    });
    return server;
  });
  return { url, runs };
}

async function serve(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ scenario: SCENARIO, env: { EGRESS_ALLOW: "127.0.0.1", ...env } });
}

function asker(server: TestServer, tool: object) {
  const tools = [{ type: "mcp", server_label: "shop", require_approval: "never", elicitation: "ask", ...tool }];
  const post = async (members: object): Promise<Reply> => {
    const reply = await server.post("/v1/responses", { model: "antiphon-built-in", tools, ...members });
    if (reply.ok) return await readResponse(reply);
    const { error }: { error: { message: string } } = JSON.parse(await reply.text());
    return { status: reply.status, error };
  };
  return {
    tools,
    refusal: async (members: object) => await post(members),
    ask: async (members: object): Promise<ResponseBody> => {
      const reply = await post(members);
      if ("output" in reply) return reply;
      throw new Error(reply.error.message);
    },
  };
}

function questionIn({ output }: ResponseBody) {
  const request = output.at(-1);
  if (request?.type !== "mcp_approval_request") throw new Error(`nothing was asked: ${JSON.stringify(output)}`);
  const question: Record<string, unknown> = JSON.parse(request.arguments);
  return { id: request.id, name: request.name, item: request, question };
}

function answer(response: ResponseBody, approve: boolean, content: object | null = null) {
  const reason = content === null ? null : JSON.stringify(content);
  const item = { type: "mcp_approval_response", approval_request_id: questionIn(response).id, approve, reason };
  return { previous_response_id: response.id, input: [item] };
}

function callIn({ output }: ResponseBody) {
  const call = output.find(({ type }) => type === "mcp_call");
  if (call?.type !== "mcp_call") throw new Error(`nothing was called: ${JSON.stringify(output)}`);
  return call;
}

function typesOf({ output }: ResponseBody): readonly string[] {
  return output.map(({ type }) => type);
}

test("a question ends the response, and the next request's answer goes on with the call, once", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { url, runs } = await startAskingServer();
  const { ask, refusal } = asker(await serve(), { server_url: url });
  const first = await ask({ input: "call order" });
  expect(first.status).toBe("completed");
  expect(typesOf(first)).toEqual(["mcp_list_tools", "mcp_call", "mcp_approval_request"]);
  expect(callIn(first)).toMatchObject({ status: "incomplete", output: null, error: null });
  const { name, question } = questionIn(first);
  expect(name).toBe("elicitation/create");
  expect(question).toMatchObject({
    message: "Which size?",
    requestedSchema: { type: "object", required: ["size"] },
    call: { name: "order", arguments: '{"sku":"tea"}' },
  });
  const second = await ask(answer(first, true, { size: "large" }));
  expect(typesOf(second)).toEqual(["mcp_call", "message"]);
  expect(callIn(second)).toMatchObject({
    status: "completed",
    approval_request_id: questionIn(first).id,
    arguments: '{"sku":"tea"}',
    output: "tea large false cart-7",
  });
  expect(runs).toEqual(["order tea", "order tea"]);
  expect(await refusal(answer(first, true, { size: "large" }))).toMatchObject({ status: 400 });
  expect(runs.length).toBe(2);
});

test("a declined question goes on with the call, and its server is told", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { ask } = asker(await serve(), { server_url: (await startAskingServer()).url });
  const second = await ask(answer(await ask({ input: "call order" }), false));
  expect(callIn(second)).toMatchObject({ status: "completed", output: "not ordered" });
});

test("several questions of one result are asked one after the other", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { ask } = asker(await serve(), { server_url: (await startAskingServer()).url });
  const first = await ask({ input: "call twice" });
  const second = await ask(answer(first, true, { size: "small", gift: true }));
  expect(typesOf(second)).toEqual(["mcp_call", "mcp_approval_request"]);
  expect(questionIn(second).question["message"]).toBe("For whom?");
  const third = await ask(answer(second, true, { name: "Ada" }));
  expect(callIn(third).output).toBe('[{"gift":true,"size":"small"},{"name":"Ada"}]');
});

test("a page to visit is passed on, and approved without content", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { ask } = asker(await serve(), { server_url: (await startAskingServer()).url });
  const first = await ask({ input: "call visit" });
  expect(questionIn(first).question).toMatchObject({ mode: "url", url: "https://login.example.com/7" });
  expect(callIn(await ask(answer(first, true))).output).toBe('{"action":"accept"}');
});

test.each([
  [null, "The member 'size' is missing"],
  [{ size: "huge" }, "The member 'size' is no string"],
  [{ size: "small", gift: "yes" }, "The member 'gift' is no boolean"],
  [{ size: "small", colour: "red" }, "no member 'colour'"],
])("an answer %j does not fit, which uses nothing up", async (content, why) => {
  verifies("tools.mcp.answers-fit-questions");
  const { url, runs } = await startAskingServer();
  const { ask, refusal } = asker(await serve(), { server_url: url });
  const first = await ask({ input: "call order" });
  expect(await refusal(answer(first, true, content))).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining(why) },
  });
  expect(runs.length).toBe(1);
  expect(callIn(await ask(answer(first, true, { size: "small" }))).output).toBe("tea small false cart-7");
});

test("a client that keeps the items itself answers with all of them, through the official SDK", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const server = await serve();
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  const { tools } = asker(server, { server_url: (await startAskingServer()).url });
  const create = async (input: unknown[]): Promise<ResponseBody> =>
    JSON.parse(
      JSON.stringify(
        // @ts-expect-error -- The SDK does not know `elicitation`, and passes it through.
        await client.responses.create({ model: "antiphon-built-in", store: false, tools, input }),
      ),
    );
  const input = [{ role: "user", content: "call order" }];
  const first = await create(input);
  const { input: answers } = answer(first, true, { size: "small" });
  const second = await create([...input, ...first.output, ...answers]);
  expect(callIn(second).output).toBe("tea small false cart-7");
});

test("a streamed answer obeys the laws of streams", async () => {
  const server = await serve();
  const { tools } = asker(server, { server_url: (await startAskingServer()).url });
  const common = { model: "antiphon-built-in", tools, stream: true };
  const first = await readStream(await server.post("/v1/responses", { ...common, input: "call order" }));
  checkStreamLaws(first);
  const answered = { ...common, ...answer(first.final, true, { size: "small" }) };
  const second = await readStream(await server.post("/v1/responses", answered));
  checkStreamLaws(second);
  expect(callIn(second.final).status).toBe("completed");
});

test("a stored question that is sent back changed is refused", async () => {
  verifies("tools.mcp.answers-fit-questions");
  const { url, runs } = await startAskingServer();
  const { ask, refusal } = asker(await serve(), { server_url: url });
  const first = await ask({ input: "call order" });
  const { item, question } = questionIn(first);
  const changed = { ...item, arguments: JSON.stringify({ ...question, call: { name: "order", arguments: "{}" } }) };
  const { input } = answer(first, true, { size: "small" });
  const items = [{ role: "user", content: "call order" }, ...first.output.slice(0, -1), changed, ...input];
  expect(await refusal({ input: items })).toMatchObject({ status: 400 });
  expect(runs.length).toBe(1);
});

test("without elicitation ask, a server of the newer protocol is told at once", async () => {
  verifies("tools.mcp.questions-are-refused");
  const { ask } = asker(await serve(), { server_url: (await startAskingServer()).url, elicitation: "decline" });
  const response = await ask({ input: "call order" });
  expect(typesOf(response)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
  expect(callIn(response).status).toBe("failed");
});

test("a call of the official server waits in its session for the answer", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { url } = await startEverything("streamableHttp");
  const { ask } = asker(await serve(), { server_url: url });
  const first = await ask({ input: "call trigger-elicitation-request" });
  expect(questionIn(first).question).toMatchObject({ message: "Please provide inputs for the following fields:" });
  const second = await ask(answer(first, true, { name: "Ada", check: true, integer: 42 }));
  expect(callIn(second)).toMatchObject({ status: "completed", output: expect.stringContaining("- Name: Ada") });
  const third = await ask({ previous_response_id: second.id, input: "call get-sum" });
  expect(callIn(third).output).toContain("5");
});

test("a program keeps its call, and its state, for the response that answers", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const file = join(temporaryFolder(), "servers.yaml");
  await writeFile(file, `servers: { shop: { command: ${process.execPath}, args: [${PROGRAM}] } }`);
  const { ask } = asker(await serve({ MCP_SERVERS_FILE: file, MCP_LIST_TIMEOUT_MS: "30s" }), {});
  const first = await ask({ input: "call order" });
  const second = await ask(answer(first, true, { size: "large" }));
  expect(callIn(second).output).toMatch(/^tea large after 1 in \d+$/);
  const third = await ask({ previous_response_id: second.id, input: "call order" });
  expect(callIn(await ask(answer(third, false))).output).toBe(
    callIn(second).output?.replace("tea large after 1", "nothing after 2") ?? "",
  );
});

test("an answer after a restart of the server does not repeat the call", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { url } = await startEverything("streamableHttp");
  const env = { DATA_DIR: temporaryFolder(), API_KEYS: "sk-ours-0123456789" };
  const before = await serve(env);
  const first = await asker(before, { server_url: url }).ask({ input: "call trigger-elicitation-request" });
  await before.close();
  const { ask } = asker(await serve(env), { server_url: url });
  expect(callIn(await ask(answer(first, true, { name: "Ada" })))).toMatchObject({
    status: "failed",
    error: { message: "interrupted; whether it took effect is unknown" },
  });
});
