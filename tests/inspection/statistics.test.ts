import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { chunks, serveBehind, usageChunk } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const USAGE = usageChunk({
  prompt_tokens: 1000,
  completion_tokens: 500,
  total_tokens: 1500,
  prompt_tokens_details: { cached_tokens: 400 },
});
const PRICES = "currency: EUR\nmodels:\n  m*: { input: 2, cached_input: 1, output: 8 }\n";

test("responses are counted by time and model, with tokens, times and prices", async () => {
  verifies("inspection.statistics.counts", "inspection.statistics.prices");
  const file = join(temporaryFolder(), "prices.yaml");
  await writeFile(file, PRICES);
  const answer = chunks(textChunk("Hi"), lastChunk("stop"), USAGE);
  const { server } = await serveBehind(answer, { PRICES_FILE: file });
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  for (const model of ["m1", "m1", "other"]) await client.createResponse({ model, input: "Hi" });
  const now = Math.floor(Date.now() / 1000);
  const statistics = await client.getResponseStatistics({ buckets: 24 });
  expect(statistics).toMatchObject({ object: "response.statistics", bucket_seconds: 3600, is_partial: false });
  expect(statistics.buckets).toHaveLength(24);
  expect(statistics.to).toBeGreaterThanOrEqual(now);
  expect(statistics.buckets.at(-1)).toMatchObject({
    runs: 3,
    failed: 0,
    input_tokens: 3000,
    output_tokens: 1500,
    duration_ms_p50: expect.any(Number),
    duration_ms_p95: expect.any(Number),
    first_text_ms_p50: expect.any(Number),
  });
  expect(statistics.buckets[0]).toMatchObject({ runs: 0, duration_ms_p50: null });
  // 600 × 2, 400 × 1 and 500 × 8 of a million each, twice.
  expect(statistics.models).toMatchObject([
    { model: "m1", runs: 2, price: { amount: expect.any(Number), currency: "EUR" } },
    { model: "other", runs: 1, price: null },
  ]);
  const { data } = await client.listResponses({ model: "m1" });
  const price = { amount: 0.0056, currency: "EUR" };
  expect(data.map((listed) => listed.price)).toEqual([price, price]);
  expect((await client.getResponseStatistics({ model: "other" })).buckets.at(-1)?.runs).toBe(1);
  expect(
    (await client.getResponseStatistics({ created_before: now - 100 })).buckets.every(({ runs }) => runs === 0),
  ).toBe(true);
  const empty = client.getResponseStatistics({ created_after: 20, created_before: 20 });
  await expect(empty).rejects.toMatchObject({ status: 400, param: "created_after" });
});

test("another owner sees nothing", async () => {
  verifies("inspection.access.owners");
  const server = await startTestServer({ env: { API_KEYS: "sk-one-0123456789=a/b,sk-two-0123456789=a/c" } });
  try {
    const [one, other] = ["sk-one-0123456789", "sk-two-0123456789"].map(
      (apiKey) => new Antiphon({ baseUrl: server.url, apiKey }),
    );
    const { id } = (await one?.createResponse({ model: "antiphon-built-in", input: "Hi" })) ?? { id: "" };
    expect((await one?.listResponses())?.data).toHaveLength(1);
    expect((await other?.listResponses())?.data).toEqual([]);
    expect((await other?.getResponseStatistics())?.models).toEqual([]);
    await expect(other?.listResponses({ after: id })).rejects.toMatchObject({ status: 400 });
    await expect(other?.listResponseTimeline(id)).rejects.toMatchObject({ status: 404 });
    await expect(other?.listResponseExchanges(id)).rejects.toMatchObject({ status: 404 });
    await expect(other?.deleteResponseExchanges(id)).rejects.toMatchObject({ status: 404 });
  } finally {
    await server.close();
  }
});
