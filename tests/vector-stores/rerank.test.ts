import { setImmediate } from "node:timers/promises";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { askedOf, embeds, ranks } from "../model-servers/retrieval-servers.ts";
import { refuses, saysNothing, serveSeveral } from "../model-servers/several-servers.ts";
import { type Answer, chunks } from "../responses/behind-upstream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { calls, saysText } from "../tools/behind-script.ts";
import { verifies } from "../verifies.ts";
import { type Called, createStore, type Found, takenIn, upload } from "./store-client.ts";

const RERANK = { RERANK_MODEL: "ranker" };
/** By words the first is better, by the reranker the second. */
const SHORT = "A heron.";
const LONG = "Long ago a heron met heronlike and heronless birds of the lake and of the sea, and many more of them.";

async function storeOf(server: Called, ...texts: readonly string[]): Promise<string> {
  const ids: string[] = [];
  for (const text of texts) ids.push(await upload(server, "note.txt", text));
  const storeId = await createStore(server, ids);
  const { file_counts: counts } = await takenIn(server, storeId);
  expect(counts).toMatchObject({ completed: texts.length });
  return storeId;
}

async function searched(server: Called, storeId: string, more: object = {}): Promise<readonly [string, number][]> {
  const reply = await server.post(`/v1/vector_stores/${storeId}/search`, { query: "heron", ...more });
  expect(reply.status).toBe(200);
  const { data }: { readonly data: readonly Found[] } = await reply.json();
  return data.map(({ content, score }) => [content[0]?.text ?? "", score]);
}

test("the ranker auto is the reranker, with its scores, and other rankers are not", async () => {
  verifies("vector-stores.search.reranker", "vector-stores.search.rankers");
  const { server, callsOf } = await serveSeveral({ first: ranks }, "  ranker: first/a", { env: RERANK });
  const storeId = await storeOf(server, SHORT, LONG);
  for (const ranking of [{}, { ranking_options: { ranker: "auto" } }])
    expect(await searched(server, storeId, ranking)).toEqual([
      [LONG, 0.3],
      [SHORT, 0.1],
    ]);
  expect(askedOf(callsOf("first")[0]?.body ?? "")).toMatchObject({ model: "a", query: "heron" });
  const above = { ranking_options: { ranker: "auto", score_threshold: 0.2 } };
  expect(await searched(server, storeId, above)).toEqual([[LONG, 0.3]]);
  expect(await searched(server, storeId, { max_num_results: 1 })).toEqual([[LONG, 0.3]]);
  const before = callsOf("first").length;
  for (const ranker of ["none", "default-2024-11-15"]) {
    const found = await searched(server, storeId, { ranking_options: { ranker } });
    expect(found.map(([text]) => text)).toEqual([SHORT, LONG]);
  }
  expect(await searched(server, storeId, { query: "zebra" })).toEqual([]);
  expect(callsOf("first").length).toBe(before);
});

test("scores on another scale become relevances from 0 to 1", async () => {
  verifies("vector-stores.search.reranker");
  const logits: Answer = (response, { body }) => {
    const { documents } = askedOf(body);
    const list: readonly unknown[] = Array.isArray(documents) ? documents : [];
    const results = list.map((document, index) => ({ index, relevance_score: document === LONG ? 2 : -2 }));
    response.end(JSON.stringify({ results }));
  };
  const { server } = await serveSeveral({ first: logits }, "  ranker: first/a", { env: RERANK });
  const storeId = await storeOf(server, SHORT, LONG);
  const found = await searched(server, storeId);
  expect(found.map(([text, score]) => [text, score.toFixed(3)])).toEqual([
    [LONG, "0.881"],
    [SHORT, "0.119"],
  ]);
});

test.each<[string, Answer]>([
  ["fails", refuses(500)],
  ["has no ranks", refuses(404)],
  ["does not answer in time", saysNothing],
  ["leaves out a document", (response) => response.end('{"results":[{"index":0,"relevance_score":1}]}')],
])("results keep the usual order if the reranker %s, and the log says why", async (_, failing) => {
  verifies("vector-stores.search.reranker");
  const warnings: string[] = [];
  const log = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) };
  const env = { ...RERANK, RERANK_TIMEOUT_MS: "500" };
  const { server } = await serveSeveral({ first: failing }, "  ranker: first/a", { env, log });
  const storeId = await storeOf(server, SHORT, LONG);
  const found = await searched(server, storeId);
  expect(found.map(([text]) => text)).toEqual([SHORT, LONG]);
  expect(warnings).toContain("the reranker failed; results keep the order of both searches");
});

test("file_search is reranked, and its calls are exchanges of the response", async () => {
  verifies("vector-stores.search.reranker", "vector-stores.search.model-by-name");
  let turns = 0;
  const answers: Answer = (response, call) => {
    if (call.path.endsWith("/rerank")) return ranks(response, call);
    if (call.path.endsWith("/embeddings")) return embeds(response, call);
    if (!call.path.endsWith("/chat/completions")) return response.writeHead(404).end();
    turns += 1;
    const said = turns === 1 ? calls(["file_search", '{"queries":["heron"]}']) : saysText("Found.");
    return chunks(...said)(response, call);
  };
  const env = { ...RERANK, EMBEDDING_MODEL: "vectors", KEEP_EXCHANGES: "stored" };
  const models = "  chat: first/c\n  ranker: first/r\n  vectors: first/v";
  const { server } = await serveSeveral({ first: answers }, models, { env });
  const storeId = await storeOf(server, SHORT, LONG);
  const response = await readResponse(
    await server.post("/v1/responses", {
      model: "chat",
      input: "herons",
      tools: [{ type: "file_search", vector_store_ids: [storeId] }],
      include: ["file_search_call.results"],
    }),
  );
  expect(response.output[0]).toMatchObject({ type: "file_search_call", results: [{ text: LONG }, { text: SHORT }] });
  const path = `/v1/responses/${response.id}/exchanges`;
  await expect
    .poll(async () => {
      const { data }: { data: { kind: string }[] } = await (await server.fetch(path)).json();
      return data.map(({ kind }) => kind);
    })
    .toEqual(["model", "embeddings", "ranks", "model"]);
});

test("EMBEDDING_MODEL is a model of MODELS_FILE, whose next server answers if one fails", async () => {
  verifies("vector-stores.search.model-by-name");
  const { server, callsOf } = await serveSeveral(
    { first: refuses(500), second: embeds },
    "  vectors: [first/a, second/b]",
    { env: { EMBEDDING_MODEL: "vectors" } },
  );
  const storeId = await storeOf(server, SHORT, "Ducks swim.");
  const ingested = callsOf("second").map(({ body }) => askedOf(body)["input"]);
  expect(new Set(ingested.flat())).toEqual(new Set([SHORT, "Ducks swim."]));
  await searched(server, storeId);
  expect(askedOf(callsOf("second").at(-1)?.body ?? "")).toMatchObject({ model: "b", input: ["heron"] });
});

test("vectors of a model that is no longer there are not compared with those of the default", async () => {
  verifies("vector-stores.search.model-by-name");
  const dataDir = temporaryFolder();
  const env = { DATA_DIR: dataDir, API_KEYS: "a-key-of-the-test" };
  const before = await serveSeveral({ first: embeds }, "  old: first/a", { env: { ...env, EMBEDDING_MODEL: "old" } });
  const storeId = await storeOf(before.server, SHORT);
  await before.server.close();
  const hasOldQuestion: string[] = [];
  const busy: Answer = (response, { body }) => {
    if (String(askedOf(body)["input"]) === "heron") hasOldQuestion.push(body);
    return response.writeHead(503).end();
  };
  const { server } = await serveSeveral({ first: busy }, "  new: first/b\ndefault: new", {
    env: { ...env, EMBEDDING_MODEL: "new" },
  });
  expect(await searched(server, storeId)).toMatchObject([[SHORT, expect.any(Number)]]);
  expect(hasOldQuestion).toEqual([]);
});

test("a busy model is asked for vectors again, and a file fails with the reason if it stays away", async () => {
  verifies("vector-stores.search.model-by-name");
  let asked = 0;
  const busy: Answer = (response, call) => {
    asked += 1;
    if (askedOf(call.body)["input"]?.toString().includes("never") === true)
      return response.writeHead(400).end('{"error":{"message":"too many tokens"}}');
    return asked < 3 ? response.writeHead(503, { "retry-after": "0" }).end() : embeds(response, call);
  };
  const { server } = await serveSeveral({ first: busy }, "  vectors: first/a", { env: { EMBEDDING_MODEL: "vectors" } });
  await storeOf(server, SHORT);
  expect(asked).toBe(3);
  const storeId = await createStore(server, [await upload(server, "a.txt", "never")]);
  expect((await takenIn(server, storeId)).file_counts).toMatchObject({ failed: 1 });
});

test("a search that its client leaves stops the reranker", async () => {
  const { server, callsOf } = await serveSeveral({ first: saysNothing }, "  ranker: first/a", { env: RERANK });
  const storeId = await storeOf(server, SHORT);
  const leaving = new AbortController();
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ query: "heron" }), signal: leaving.signal };
  const reply = server.fetch(`/v1/vector_stores/${storeId}/search`, init);
  while (callsOf("first").length === 0) await setImmediate();
  leaving.abort();
  await expect(reply).rejects.toThrow("aborted");
  await callsOf("first")[0]?.closed;
});

test("names that lead to no model are told at the start", async () => {
  const { modelsFile } = await serveSeveral({ first: ranks }, "  ranker: first/a");
  for (const setting of ["EMBEDDING_MODEL", "RERANK_MODEL"])
    await expect(startTestServer({ env: { MODELS_FILE: modelsFile, [setting]: "nothing" } })).rejects.toThrow(
      `${setting} is 'nothing', which leads to no model of MODELS_FILE.`,
    );
});
