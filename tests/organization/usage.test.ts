import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { sse, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { readUntil } from "../kit/event-stream.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { ANSWER_COST, callWith, DOORS, newKeyOf, resultsOf, servePriced } from "./priced-server.ts";

const NOBODY = { user_id: null };

describe("usage", () => {
  test("is counted once for each answer by each door, under its key", async () => {
    verifies("usage.counts.every-door");
    const server = await servePriced();
    const ids: string[] = [];
    for (const [path, body] of Object.values(DOORS)) {
      const { id, value } = await newKeyOf(server);
      ids.push(id);
      expect(await (await callWith(server, value, path, body)).text()).not.toContain('"error":{');
    }
    const { id, value } = await newKeyOf(server);
    const socket = await openSocket(server, { apiKey: value });
    await socket.create({ model: "chat" });
    const counted = { input_tokens: 10, input_cached_tokens: 4, input_uncached_tokens: 6, output_tokens: 5 };
    const expected = [...ids, id].toSorted().map((api_key_id) => ({
      object: "organization.usage.completions.result",
      ...counted,
      input_cache_write_tokens: 0,
      num_model_requests: 1,
      ...NOBODY,
      api_key_id,
      project_id: null,
      model: "chat",
      batch: null,
      service_tier: null,
    }));
    await expect
      .poll(() => resultsOf(server, "usage/completions", "&group_by[]=api_key_id&group_by[]=model"))
      .toEqual(expected);
  });

  test("of vectors and ranks is counted under their models", async () => {
    verifies("usage.counts.every-door");
    const server = await servePriced();
    await server.post("/v1/embeddings", { model: "vectors", input: ["Hello", "you"] });
    await server.post("/v1/rerank", { model: "order", query: "you", documents: ["you", "me"] });
    const of = (model: string, tokens: number) => ({
      object: "organization.usage.embeddings.result",
      input_tokens: tokens,
      num_model_requests: 1,
      ...NOBODY,
      project_id: null,
      api_key_id: null,
      model,
    });
    await expect
      .poll(() => resultsOf(server, "usage/embeddings", "&group_by=model"))
      .toEqual([of("order", 7), of("vectors", 2)]);
    expect(await resultsOf(server, "costs", "&group_by=line_item")).toMatchObject([
      { amount: { value: 2 / 1_000_000, currency: "usd" }, line_item: "vectors", quantity: 2, quantity_unit: "tokens" },
    ]);
  });

  test("of an answer that its client left is estimated from what was said", async () => {
    verifies("usage.counts.cut-answers");
    const server = await servePriced({}, (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("Well, well")));
    });
    const controller = new AbortController();
    const reply = await server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", input: "Hi", stream: true, store: false }),
      signal: controller.signal,
    });
    await readUntil(reply, '"delta":"Well');
    controller.abort();
    await expect.poll(() => resultsOf(server, "usage/completions")).toMatchObject([{ output_tokens: 3 }]);
  });
});

describe("costs", () => {
  test("are those of models with a price, by project, key and line", async () => {
    verifies("usage.costs.by-prices");
    const server = await servePriced();
    const { id, value } = await newKeyOf(server, { projects: ["acme/web"] });
    for (const model of ["chat", "chat", "free"])
      await callWith(server, value, "/v1/responses", { model, input: "Hi" });
    await server.post("/v1/responses", { model: "chat", input: "Hi" });
    const groups = "&group_by=project_id&group_by=api_key_id&group_by=line_item";
    const line = { object: "organization.costs.result", line_item: "chat", quantity_unit: "tokens" };
    await expect
      .poll(() => resultsOf(server, "costs", groups))
      .toEqual([
        {
          ...line,
          amount: { value: 2 * ANSWER_COST, currency: "usd" },
          project_id: "acme/web",
          api_key_id: id,
          quantity: 30,
        },
        {
          ...line,
          amount: { value: ANSWER_COST, currency: "usd" },
          project_id: "default/default",
          api_key_id: "key_first",
          quantity: 15,
        },
      ]);
    expect(await resultsOf(server, "costs")).toMatchObject([
      { amount: { value: 3 * ANSWER_COST }, line_item: null, project_id: null, quantity: null },
    ]);
    expect(await resultsOf(server, "costs", "&project_ids=acme/web&api_key_ids=key_first")).toEqual([]);
    expect(await resultsOf(server, "usage/completions", "&models=free&group_by=model")).toMatchObject([
      { model: "free", num_model_requests: 1 },
    ]);
  });
});

describe("a page of usage", () => {
  test("has all its buckets, empty ones too, and names the next page", async () => {
    verifies("usage.pages.buckets");
    const server = await startTestServer();
    const start = 1_700_000_040; // Forty seconds after the hour begins that lies in it.
    const pageOf = async (query: string) => {
      const reply = await server.fetch(`/v1/organization/usage/moderations?start_time=${start}&${query}`);
      return JSON.parse(await reply.text());
    };
    const first = await pageOf(`end_time=${start + 200}&bucket_width=1m&limit=2`);
    const minute = start - (start % 60);
    expect(first).toEqual({
      object: "page",
      data: [0, 60].map((after) => ({
        object: "bucket",
        start_time: minute + after,
        end_time: minute + after + 60,
        results: [],
      })),
      has_more: true,
      next_page: `page_${minute + 120}`,
    });
    const second = await pageOf(`end_time=${start + 200}&bucket_width=1m&limit=2&page=${first.next_page}`);
    expect(second.data.map((bucket: { start_time: number }) => bucket.start_time)).toEqual([
      minute + 120,
      minute + 180,
    ]);
    expect((await pageOf("bucket_width=1h")).data).toHaveLength(24);
    expect((await pageOf("")).data).toHaveLength(7);
  });

  test.each([
    ["limit=1441&bucket_width=1m", "integer_above_max_value", "limit"],
    ["limit=32", "integer_above_max_value", "limit"],
    ["page=page_7", "invalid_value", "page"],
    ["page=other", "invalid_value", "page"],
  ])("is refused for %s", async (query, code, param) => {
    verifies("usage.pages.buckets");
    const server = await startTestServer();
    const reply = await server.fetch(`/v1/organization/usage/completions?start_time=0&${query}`);
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code, param } }]);
  });

  test("is read by the official client", async () => {
    verifies("usage.pages.official-client");
    const server = await servePriced();
    await server.post("/v1/responses", { model: "chat", input: "Hi" });
    const client = new OpenAI({ adminAPIKey: server.apiKey, apiKey: "none", baseURL: `${server.url}/v1` });
    const start_time = Math.floor(Date.now() / 1000);
    await expect
      .poll(async () => {
        const page = await client.admin.organization.usage.completions({ start_time, group_by: ["model"] });
        return page.data.flatMap(({ results }) => results);
      })
      .toMatchObject([{ model: "chat", input_tokens: 10 }]);
    const { data } = await client.admin.organization.usage.costs({ start_time });
    expect(data.flatMap(({ results }) => results)).toMatchObject([{ amount: { value: ANSWER_COST } }]);
  });
});

test("only an operator's key sees usage and keys", async () => {
  verifies("usage.operators.only");
  const server = await servePriced();
  const { value } = await newKeyOf(server);
  const paths = ["usage/completions?start_time=0", "costs?start_time=0", "admin_api_keys", "keys", "keys/key_first"];
  for (const path of paths) {
    const get = (key: string) =>
      server.fetch(`/v1/organization/${path}`, { headers: { authorization: `Bearer ${key}` } });
    const refused = await get(value);
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: "missing_scope", type: "invalid_request_error", param: null } },
    ]);
    expect((await get("sk-nobody-0123456789")).status).toBe(401);
    expect((await get(server.apiKey)).status).toBe(200);
  }
});
