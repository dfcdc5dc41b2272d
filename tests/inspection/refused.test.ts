import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { startTestServer } from "../kit/test-server.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";

const TOKEN = "mcp-token-0123456789";

test("refused requests are kept, count as failed, and are no responses", async () => {
  verifies("inspection.refused.kept");
  const { server, create } = await serveBehind((response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `No model for ${TOKEN}`, code: "model_not_found" } }));
  });
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const tool = { type: "mcp", server_label: "a", server_url: "http://127.0.0.1:1", authorization: TOKEN };
  const refused = [
    { model: "m", input: "Bad number", temperature: "hot" },
    { model: "m", input: "Unknown chain", previous_response_id: "resp_none", stream: true },
    { model: "m", input: "Not there", tools: [tool], tool_choice: "none" },
    { model: "m", input: "Leaves nothing", store: false, temperature: "hot" },
  ];
  for (const body of refused) expect((await create(body)).status).toBeGreaterThanOrEqual(400);
  const wrongKey = { authorization: "Bearer sk-wrong", "content-type": "application/json" };
  await fetch(`${server.url}/v1/responses`, { method: "POST", headers: wrongKey, body: JSON.stringify(refused[0]) });
  await expect.poll(async () => (await client.getResponseStatistics()).refused?.length).toBe(3);
  const { refused: kept = [], buckets, models } = await client.getResponseStatistics();
  expect(kept.map(({ status, model, kind, input_preview }) => [status, model, kind, input_preview])).toEqual([
    [expect.any(Number), "m", "plain", "Not there"],
    [400, "m", "streamed", "Unknown chain"],
    [400, "m", "plain", "Bad number"],
  ]);
  expect(kept[2]).toMatchObject({ code: "invalid_type", param: "temperature" });
  expect(JSON.stringify(kept)).not.toContain(TOKEN);
  expect(buckets.at(-1)).toMatchObject({ runs: 3, failed: 3 });
  expect(models).toMatchObject([{ model: "m", runs: 3, failed: 3 }]);
  expect((await client.getResponseStatistics({ status: ["completed"] })).refused).toEqual([]);
  expect((await client.listResponses({})).data).toEqual([]);
});

test("messages of a WebSocket that are refused are kept as over HTTP", async () => {
  verifies("inspection.refused.websocket");
  const server = await startTestServer();
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const socket = await openSocket(server);
  const tool = { type: "mcp", server_label: "a", server_url: "http://127.0.0.1:1", authorization: TOKEN };
  const refused = [
    { model: "m", input: "Bad number", tools: [tool], temperature: "hot" },
    { model: "m", input: "Unknown chain", previous_response_id: "resp_none" },
    { model: "m", input: "No model" },
    { model: "m", input: "Another lane", stream_id: "a b" },
    { model: "m", input: "Later", background: true },
    { model: "m", input: "Leaves nothing", store: false, temperature: "hot" },
  ];
  for (const members of refused) {
    socket.ask(members);
    expect((await socket.turn()).refusal.status).toBeGreaterThanOrEqual(400);
  }
  const others = ["no JSON", { type: "response.create" }, { type: "response.cancel", response_id: "resp_none" }, 7];
  for (const frame of [...others, { model: "m", input: "No type" }]) {
    socket.send(frame);
    expect((await socket.turn()).refusal.status).toBeGreaterThanOrEqual(400);
  }
  expect((await socket.create()).response.status).toBe("completed");
  await expect.poll(async () => (await client.getResponseStatistics()).refused?.length).toBe(9);
  const { refused: kept = [], buckets } = await client.getResponseStatistics();
  expect(kept.map(({ kind, input_preview, param }) => [kind, input_preview, param]).toReversed()).toEqual([
    ["websocket", "Bad number", "temperature"],
    ["websocket", "Unknown chain", "previous_response_id"],
    ["websocket", "No model", "model"],
    ["websocket", "Another lane", "stream_id"],
    ["background", "Later", "background"],
    ["websocket", "", null],
    ["websocket", "", "model"],
    ["websocket", "", null],
    ["websocket", "No type", "type"],
  ]);
  expect(JSON.stringify(kept)).not.toContain(TOKEN);
  expect(buckets.at(-1)).toMatchObject({ runs: 10, failed: 9 });
});

test("a message that ends its WebSocket is kept, and so is one that waited for too long", async () => {
  verifies("inspection.refused.websocket");
  const scenario = "scenarios: [{ events: [{ text: Begun }, { delay_ms: 600000 }] }]";
  const server = await startTestServer({ env: { WEBSOCKET_LIFETIME_MS: "300" }, scenario });
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const waiting = await openSocket(server);
  for (const input of ["First", "Second"]) waiting.ask({ input });
  await waiting.closed;
  const broken = await openSocket(server);
  broken.send(Buffer.from([1, 2, 3]));
  await broken.closed;
  await expect.poll(async () => (await client.getResponseStatistics()).refused?.length).toBe(2);
  expect((await client.getResponseStatistics()).refused).toMatchObject([
    { kind: "websocket", status: 415, input_preview: "" },
    { kind: "websocket", code: "websocket_connection_limit_reached", input_preview: "Second" },
  ]);
});
