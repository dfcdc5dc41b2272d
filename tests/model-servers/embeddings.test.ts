import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import type { Answer } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { askedOf, base64Of, embeds, embedsInNumbers, numbersOf } from "./retrieval-servers.ts";
import { refuses, resets, saysNothing, serveSeveral } from "./several-servers.ts";

const ROUTE = "  vectors: [first/a, second/b]";

function sdkFor({ url, apiKey }: TestServer): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

async function errorOf(reply: Response): Promise<unknown> {
  const { error }: { readonly error: unknown } = JSON.parse(await reply.text());
  return [reply.status, error];
}

const INPUTS: Readonly<Record<string, [input: unknown, elements: readonly unknown[]]>> = {
  "a text": ["Hello", ["Hello"]],
  texts: [
    ["Hello", "you"],
    ["Hello", "you"],
  ],
  "the tokens of a text": [[9906, 498], [[9906, 498]]],
  "the tokens of texts": [
    [[9906], [498, 7]],
    [[9906], [498, 7]],
  ],
};

test.each(Object.entries(INPUTS))("%s becomes vectors, as numbers and in base64", async (_, [input, elements]) => {
  verifies("models.embeddings.shapes");
  for (const answer of [embeds, embedsInNumbers]) {
    const { server, callsOf } = await serveSeveral({ first: answer }, "  vectors: first/a");
    for (const encoding_format of ["float", "base64"]) {
      const asked = { model: "vectors", input, encoding_format, dimensions: 3, user: "ada" };
      const reply = await server.post("/v1/embeddings", asked);
      const vectors = elements.map(numbersOf);
      expect([reply.status, await reply.json()]).toMatchObject([
        200,
        {
          object: "list",
          model: "vectors",
          data: vectors.map((numbers, index) => {
            return {
              object: "embedding",
              index,
              embedding: encoding_format === "base64" ? base64Of(numbers) : numbers,
            };
          }),
        },
      ]);
      expect(reply.headers.get("x-antiphon-model-server")).toBe("first/a");
      expect(reply.headers.get("x-antiphon-emulated")).toBe(answer === embeds ? null : "usage");
      const [sent] = callsOf("first").toReversed();
      expect(askedOf(sent?.body ?? "")).toEqual({ ...asked, model: "a", input: elements });
    }
  }
});

test("the official client, which asks for base64, reads numbers", async () => {
  verifies("models.embeddings.shapes");
  const { server, callsOf } = await serveSeveral({ first: embedsInNumbers }, "  vectors: first/a");
  const { data } = await sdkFor(server).embeddings.create({ model: "vectors", input: ["Hello", "you"] });
  expect(data.map(({ embedding }) => embedding)).toEqual([numbersOf("Hello"), numbersOf("you")]);
  expect(askedOf(callsOf("first")[0]?.body ?? "")).toMatchObject({ encoding_format: "base64" });
});

test("a server that refuses base64 is asked for numbers, from then on at once", async () => {
  verifies("models.embeddings.shapes");
  const refusesBase64: Answer = (response, call) => {
    if (askedOf(call.body)["encoding_format"] === "float") return embeds(response, call);
    response.writeHead(400, { "content-type": "application/json" });
    return response.end(JSON.stringify({ error: { message: "encoding_format: unknown value" } }));
  };
  const { server, callsOf } = await serveSeveral({ first: refusesBase64 }, "  vectors: first/a");
  for (const count of [2, 3]) {
    const { data } = await sdkFor(server).embeddings.create({ model: "vectors", input: "Hello" });
    expect(data[0]?.embedding).toEqual(numbersOf("Hello"));
    expect(callsOf("first").length).toBe(count);
  }
});

test("many inputs are split over several requests, in their order", async () => {
  verifies("models.embeddings.batches");
  const { server, callsOf } = await serveSeveral({ first: embeds }, "  vectors: first/a", {
    entries: { first: "embedding_inputs_max: 100" },
  });
  const input = Array.from({ length: 2048 }, (_, index) => "x".repeat(1 + (index % 50)));
  const { data, usage } = await sdkFor(server).embeddings.create({ model: "vectors", input });
  expect(data.map(({ index, embedding }) => [index, embedding[0]])).toEqual(
    input.map((text, index) => [index, text.length]),
  );
  expect(usage).toEqual({ prompt_tokens: 2048, total_tokens: 2048 });
  const sizes = callsOf("first").map(
    ({ body }) => Array.from(new Set([askedOf(body)["input"]]).values()).flat().length,
  );
  expect([sizes.length, Math.max(...sizes)]).toEqual([21, 100]);
});

test("inputs of many tokens are split by their tokens", async () => {
  verifies("models.embeddings.batches");
  const { server, callsOf } = await serveSeveral({ first: embeds }, "  vectors: first/a");
  const tokens = Array.from({ length: 8_000 }, () => 7);
  const input = Array.from({ length: 37 }, () => tokens);
  const reply = await server.post("/v1/embeddings", { model: "vectors", input });
  expect(reply.status).toBe(200);
  expect(callsOf("first").length).toBe(2);
});

const INVALID = "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.";
const codeless = { type: "invalid_request_error", param: null, code: "invalid_request_error" };
const REFUSED: Readonly<Record<string, [members: object, error: object]>> = {
  "an empty text": [{ input: "" }, { ...codeless, message: `${INVALID} It is empty.` }],
  "no texts": [{ input: [] }, { ...codeless, message: `${INVALID} It is empty.` }],
  "an empty text among others": [{ input: ["a", ""] }, { ...codeless, message: `${INVALID} 'input[1]' is empty.` }],
  "a text without tokens": [{ input: [[1], []] }, { ...codeless, message: `${INVALID} 'input[1]' is empty.` }],
  "too many texts": [
    { input: Array.from({ length: 2049 }, () => "a") },
    { ...codeless, message: `${INVALID} It holds 2049 inputs, and at most 2048 can be sent.` },
  ],
  "too many tokens": [
    { input: Array.from({ length: 38 }, () => Array.from({ length: 8_000 }, () => 7)) },
    {
      type: "max_tokens_per_request",
      param: null,
      code: "max_tokens_per_request",
      message: "Requested 304000 tokens, max 300000 tokens per request",
    },
  ],
  "an object": [
    { input: {} },
    {
      type: "invalid_request_error",
      param: "input",
      code: "invalid_type",
      message:
        "Invalid type for 'input': expected a string, an array of strings, an array of tokens, or an array of token arrays, but got an object instead.",
    },
  ],
  "an unknown encoding": [
    { input: "a", encoding_format: "int8" },
    { param: "encoding_format", code: "invalid_value" },
  ],
  "no dimensions": [
    { input: "a", dimensions: 0 },
    { param: "dimensions", code: "integer_below_min_value" },
  ],
  "an unknown member": [
    { input: "a", truncate: true },
    { param: "truncate", code: "unknown_parameter" },
  ],
  "no input": [{}, { param: "input", code: "missing_required_parameter" }],
};

test.each(Object.entries(REFUSED))("%s is refused before a model server is asked", async (_, [members, error]) => {
  verifies("models.embeddings.limits");
  const { server, callsOf } = await serveSeveral({ first: embeds }, "  vectors: first/a");
  const reply = await server.post("/v1/embeddings", { model: "vectors", ...members });
  expect(await errorOf(reply)).toMatchObject([400, error]);
  expect(callsOf("first")).toEqual([]);
});

const failsAtSecondBatch: Answer = (response, call) =>
  String(askedOf(call.body)["input"]).includes("last") ? response.writeHead(500).end() : embeds(response, call);

test.each<[string, Answer]>([
  ["closes the connection", resets],
  ["lacks embeddings", (response) => response.writeHead(404).end('{"detail":"Not Found"}')],
  ["refuses the key", refuses(401)],
  ["asks for a pause", refuses(429, { "retry-after": "30" })],
  ["fails", refuses(500)],
  ["does not begin", saysNothing],
  ["sends no vectors", (response) => response.end('{"data":[]}')],
  ["sends null in a vector", (response) => response.end('{"data":[{"embedding":[1,null]}]}')],
  ["sends no JSON", (response) => response.end("<html>")],
  ["fails at the second batch", failsAtSecondBatch],
])("the next server makes all vectors if the first one %s", async (_, failing) => {
  verifies("models.embeddings.routes");
  const { server, callsOf } = await serveSeveral({ first: failing, second: embeds }, ROUTE, {
    entries: { first: "first_event_timeout_ms: 300, embedding_inputs_max: 1" },
  });
  const reply = await server.post("/v1/embeddings", { model: "vectors", input: ["first", "last"] });
  expect(await reply.json()).toMatchObject({
    model: "vectors",
    data: [{ embedding: numbersOf("first") }, { embedding: numbersOf("last") }],
  });
  expect(reply.headers.get("x-antiphon-model-server")).toBe("second/b");
  expect(callsOf("second").length).toBe(1);
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toContain('antiphon_model_fallbacks_total{server="first"} 1');
  expect(metrics).toContain('antiphon_model_attempts_total{server="second",outcome="answered"} 1');
});

test("a request that is at fault is not asked elsewhere", async () => {
  const { server, callsOf } = await serveSeveral({ first: refuses(400), second: embeds }, ROUTE);
  const reply = await server.post("/v1/embeddings", { model: "vectors", input: "a" });
  expect(await errorOf(reply)).toMatchObject([400, { type: "invalid_request_error", message: "Status 400." }]);
  expect(callsOf("second")).toEqual([]);
});

test("a model without embeddings is an error that names it", async () => {
  verifies("models.embeddings.routes");
  const { server } = await serveSeveral(
    { first: (response) => response.writeHead(404).end("Not Found"), second: embeds },
    "  chat: first/a\n  claude: second/b",
    { entries: { second: "dialect: messages" } },
  );
  for (const model of ["chat", "claude"])
    for (const what of ["embeddings", "ranks"]) {
      const [path, body] =
        what === "embeddings" ? ["embeddings", { input: "a" }] : ["rerank", { query: "a", documents: ["b"] }];
      const reply = await server.post(`/v1/${path}`, { model, ...body });
      expect(await errorOf(reply)).toMatchObject([
        400,
        { param: "model", code: "invalid_value", message: expect.stringContaining(`This model has no ${what}.`) },
      ]);
    }
});

test("a model that does not exist, or is of other owners, is 404, and a hidden one answers", async () => {
  verifies("models.embeddings.routes");
  const { server } = await serveSeveral(
    { first: embeds },
    `  vectors: { route: first/a, owners: [acme] }
  hidden: { route: first/a, listed: false }`,
    { env: { API_KEYS: "key-of-acme=acme/x,key-of-globex=globex/y" } },
  );
  const ask = async (key: string, model: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ model, input: "a" });
    return (await fetch(`${server.url}/v1/embeddings`, { method: "POST", headers, body })).status;
  };
  expect(await ask("key-of-acme", "vectors")).toBe(200);
  expect(await ask("key-of-globex", "vectors")).toBe(404);
  expect(await ask("key-of-globex", "hidden")).toBe(200);
  expect(await ask("key-of-globex", "nothing")).toBe(404);
  expect(await ask("wrong", "hidden")).toBe(401);
});

test("a client that leaves stops the request to the model server", async () => {
  verifies("models.embeddings.client-leaves");
  const { server, callsOf } = await serveSeveral({ first: saysNothing }, "  vectors: first/a");
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "vectors", input: "a" });
  const reply = fetch(`${server.url}/v1/embeddings`, { method: "POST", headers, body, signal: leaving.signal });
  while (callsOf("first").length === 0) await setImmediate();
  leaving.abort();
  await expect(reply).rejects.toThrow("aborted");
  await callsOf("first")[0]?.closed;
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toContain('antiphon_model_server_requests{server="first"} 0');
});

test("a request waits for its place at a full server", async () => {
  verifies("models.embeddings.routes");
  const waiting: (() => void)[] = [];
  const slow: Answer = (response, call) => waiting.push(() => embeds(response, call));
  const { server, callsOf } = await serveSeveral({ first: slow }, "  vectors: first/a", {
    entries: { first: "requests_max: 1, queue_max: 1" },
  });
  const ask = () => server.post("/v1/embeddings", { model: "vectors", input: "a" });
  const first = ask();
  while (callsOf("first").length === 0) await setImmediate();
  const second = ask();
  await expect.poll(async () => await (await server.fetch("/metrics")).text()).toMatch(/waiting\{server="first"\} 1/);
  expect((await ask()).status).toBe(503);
  waiting.shift()?.();
  expect((await first).status).toBe(200);
  while (waiting.length === 0) await setImmediate();
  waiting.shift()?.();
  expect((await second).status).toBe(200);
});

test("the tokens of embeddings count against the limit of their key", async () => {
  const { server } = await serveSeveral({ first: embeds }, "  vectors: first/a", {
    env: { RATE_LIMIT_TOKENS_PER_MINUTE: "100" },
  });
  const reply = await server.post("/v1/embeddings", { model: "vectors", input: "a" });
  expect(reply.headers.get("x-ratelimit-limit-tokens")).toBe("100");
  const large = await server.post("/v1/embeddings", { model: "vectors", input: "a".repeat(1_000) });
  expect(large.status).toBe(429);
});

test("one model server, or a server of the Responses API, embeds, too", async () => {
  const { server, callsOf } = await serveSeveral({ first: embeds }, "  vectors: first/a", {
    entries: { first: "dialect: responses" },
  });
  expect((await server.post("/v1/embeddings", { model: "vectors", input: "a" })).status).toBe(200);
  const origin = `http://${callsOf("first")[0]?.headers.host}`;
  const alone = await startTestServer({ env: { MODEL_BASE_URL: `${origin}/v1` } });
  const reply = await alone.post("/v1/embeddings", { model: "any", input: "a" });
  expect([reply.status, reply.headers.get("x-antiphon-model-server")]).toEqual([200, null]);
});

test("the built-in engine makes the same vectors always, near for the same words", async () => {
  verifies("models.rerank.built-in");
  const server = await startTestServer();
  const input = ["The sea is calm.", "A calm sea.", "Bread is baked."];
  const asked = { model: "antiphon-built-in", input, encoding_format: "float" as const };
  const first = await sdkFor(server).embeddings.create(asked);
  expect(await sdkFor(server).embeddings.create(asked)).toEqual(first);
  const [sea, calm, bread] = first.data.map(({ embedding }) => embedding);
  expect(sea?.length).toBe(256);
  expect(cosine(sea, calm)).toBeGreaterThan(cosine(sea, bread) + 0.2);
  const { data } = await sdkFor(server).embeddings.create({ ...asked, dimensions: 8 });
  expect(data[0]?.embedding.length).toBe(8);
  const large = await server.post("/v1/embeddings", { ...asked, dimensions: 5_000 });
  expect(await errorOf(large)).toMatchObject([400, { param: "dimensions" }]);
});

function cosine(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}

test("the ledger says what becomes of each member", async () => {
  verifies("models.embeddings.shapes");
  const specs = join(import.meta.dirname, "../../specs");
  const schemas: Record<string, { properties: object }> = parse(
    await readFile(join(specs, "schemas/embeddings.yaml"), "utf8"),
  );
  const membersOf = (schema: string): readonly string[] => Object.keys(schemas[schema]?.properties ?? {});
  const ledger: object = parse(await readFile(join(specs, "embeddings-ledger.yaml"), "utf8"));
  expect(Object.keys(ledger)).toEqual([
    ...membersOf("CreateEmbeddingsRequest").map((name) => `embeddings.${name}`),
    ...membersOf("RerankRequest").map((name) => `rerank.${name}`),
  ]);
});
