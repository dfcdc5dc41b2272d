import { expect, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { startToolServers } from "../clients/tool-servers.ts";
import { type Answer, chunks, delta } from "../responses/behind-upstream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { breaksAfter, refuses, resets, saysNothing, saysWell, serveSeveral } from "./several-servers.ts";

const CHAT = "  chat: [first/a, second/b]";
const HURRY = { entries: { first: "first_event_timeout_ms: 300" } };

test.each<[string, Answer]>([
  ["closes the connection", resets],
  ["answers 401, because the operator's key is wrong", refuses(401)],
  ["answers 404, because it lacks the model", refuses(404)],
  ["answers 408", refuses(408)],
  ["answers 409", refuses(409)],
  ["answers 429", refuses(429)],
  ["answers 429 with retry-after", refuses(429, { "retry-after": "30" })],
  ["answers 500", refuses(500)],
  ["answers 502", refuses(502)],
  ["answers 503 with retry-after", refuses(503, { "retry-after": "30" })],
  ["breaks off after the head", breaksAfter()],
  ["does not begin", saysNothing],
])("the next server answers if the first one %s", async (_, failing) => {
  verifies("models.fallback.before-the-first-byte");
  for (const stream of [false, true]) {
    const { server, turnsOf } = await serveSeveral({ first: failing, second: saysWell }, CHAT, HURRY);
    const reply = await server.post("/v1/responses", { model: "chat", input: "Hi", stream });
    expect(reply.status).toBe(200);
    expect(reply.headers.get("x-antiphon-model-server")).toBe("second/b");
    const text = await reply.text();
    expect(text).toContain("Well done");
    expect(text).toMatch(/"model":\s*"chat"/);
    expect([turnsOf("first"), turnsOf("second")]).toEqual([1, 1]);
  }
});

test("a server that is not there is passed over", async () => {
  verifies("models.fallback.before-the-first-byte");
  const { server } = await serveSeveral({ second: saysWell }, "  chat: second/b");
  expect((await server.post("/v1/responses", { model: "chat", input: "Hi" })).status).toBe(200);
  const away = await serveSeveral({ second: saysWell, first: resets }, CHAT, {
    entries: { first: 'headers: { x-team: "a" }' },
  });
  expect((await away.server.post("/v1/responses", { model: "chat", input: "Hi" })).status).toBe(200);
});

test("if all fail, the client is told what the last one said", async () => {
  const { server, turnsOf } = await serveSeveral({ first: refuses(500), second: refuses(503) }, CHAT);
  const reply = await server.post("/v1/responses", { model: "chat", input: "Hi" });
  expect(reply.status).toBe(503);
  expect([turnsOf("first"), turnsOf("second")]).toEqual([1, 1]);
});

test("a request that is at fault is not asked elsewhere", async () => {
  verifies("models.fallback.not-for-bad-requests");
  const { server, turnsOf } = await serveSeveral({ first: refuses(400), second: saysWell }, CHAT);
  expect((await server.post("/v1/responses", { model: "chat", input: "Hi" })).status).toBe(400);
  expect(turnsOf("second")).toBe(0);
});

test("an answer that has begun is not begun again elsewhere", async () => {
  verifies("models.fallback.nothing-is-repeated");
  const { server, turnsOf } = await serveSeveral({ first: breaksAfter(textChunk("Well")), second: saysWell }, CHAT);
  const reply = await server.post("/v1/responses", { model: "chat", input: "Hi", stream: true });
  const text = await reply.text();
  expect(text).toContain("response.failed");
  expect(text).not.toContain("Well done");
  expect([turnsOf("first"), turnsOf("second")]).toEqual([1, 0]);
});

test("a turn after a tool goes to the next server, and the tool runs once", async () => {
  verifies("models.fallback.tools-run-once");
  const tools = await startToolServers();
  const search = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "web_search", arguments: '{"queries":["a"]}' },
  };
  let turns = 0;
  const first: Answer = (response, call) => {
    turns += 1;
    if (turns > 1) return refuses(500)(response, call);
    return chunks(delta({ tool_calls: [search] }), lastChunk("tool_calls"))(response, call);
  };
  const { server, turnsOf } = await serveSeveral({ first, second: saysWell }, CHAT, { env: tools.env });
  const reply = await server.post("/v1/responses", { model: "chat", input: "Hi", tools: [{ type: "web_search" }] });
  const { output } = await readResponse(reply);
  expect(output.map(({ type }) => type)).toEqual(["web_search_call", "message"]);
  expect([turnsOf("first"), turnsOf("second"), tools.searched.length]).toEqual([2, 1, 1]);
});

test("a server that asks for a pause is left alone", async () => {
  verifies("models.fallback.retry-after");
  const { server, turnsOf } = await serveSeveral(
    { first: refuses(429, { "retry-after": "60" }), second: saysWell },
    CHAT,
  );
  for (let request = 0; request < 3; request += 1)
    expect((await server.post("/v1/responses", { model: "chat", input: "Hi" })).status).toBe(200);
  expect([turnsOf("first"), turnsOf("second")]).toEqual([1, 3]);
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toMatch(/antiphon_model_attempts_total\{[^}]*server="first"[^}]*outcome="limited"[^}]*\} 1/);
  expect(metrics).toMatch(/antiphon_model_fallbacks_total\{[^}]*server="first"[^}]*\} 1/);
});

test("if every server asked for a pause, the client is told how long", async () => {
  const { server, turnsOf } = await serveSeveral({ first: refuses(429, { "retry-after": "60" }) }, "  chat: first/a");
  expect((await server.post("/v1/responses", { model: "chat", input: "Hi" })).status).toBe(429);
  const told = await server.post("/v1/responses", { model: "chat", input: "Hi" });
  expect([told.status, turnsOf("first")]).toEqual([429, 1]);
  expect(Number(told.headers.get("retry-after"))).toBeGreaterThan(50);
});

test("each attempt is an exchange", async () => {
  verifies("models.fallback.before-the-first-byte");
  const { server } = await serveSeveral({ first: refuses(500), second: saysWell }, CHAT, {
    env: { KEEP_EXCHANGES: "stored" },
  });
  const { id } = await readResponse(await server.post("/v1/responses", { model: "chat", input: "Hi" }));
  const exchanges = async (): Promise<readonly number[]> => {
    const reply = await server.fetch(`/v1/responses/${id}/exchanges`);
    const { data }: { data: { kind: string; response: { status: number } }[] } = await reply.json();
    return data.map(({ response }) => response.status);
  };
  await expect.poll(exchanges).toEqual([500, 200]);
});

test("the breaker of a server that fails again and again opens", async () => {
  verifies("models.balance.breaker");
  const { server, turnsOf } = await serveSeveral({ first: refuses(500), second: saysWell }, CHAT);
  for (let request = 0; request < 6; request += 1)
    expect((await server.post("/v1/responses", { model: "chat", input: "Hi" })).status).toBe(200);
  // A slow machine may reach the first trial, five seconds later.
  expect(turnsOf("first")).toBeGreaterThanOrEqual(3);
  expect(turnsOf("first")).toBeLessThan(6);
  expect(turnsOf("second")).toBe(6);
  expect(await (await server.fetch("/metrics")).text()).toMatch(
    /antiphon_model_server_breaker\{[^}]*server="first"[^}]*\} [12]/,
  );
});

test("a refused key is named by its place in the file", async () => {
  verifies("models.file.key");
  const { server } = await serveSeveral({ first: refuses(401) }, "  chat: first/m");
  const told = await server.post("/v1/responses", { model: "chat", input: "Hi" });
  expect([told.status, await told.text()]).toEqual([
    502,
    expect.stringContaining("(servers.first.api_key_env in MODELS_FILE); your API key is not the cause."),
  ]);
});
