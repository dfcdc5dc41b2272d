import { expect, test } from "vitest";
import { Antiphon } from "../../src/client/index.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

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
