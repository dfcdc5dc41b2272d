import { setImmediate } from "node:timers/promises";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { startTestServer } from "../kit/test-server.ts";
import { refuses, saysNothing, serveSeveral } from "../model-servers/several-servers.ts";
import { type Answer, chunks, says } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { type Called, createStore, type Found, takenIn, upload } from "./store-client.ts";

const REWRITE = { REWRITE_MODEL: "words", REWRITE_TIMEOUT_MS: "60000" };
const MODELS = "  words: first/a";

interface Reply {
  readonly search_query: readonly string[];
  readonly data: readonly Found[];
}

async function storeOf(server: Called, ...texts: readonly string[]): Promise<string> {
  const ids: string[] = [];
  for (const text of texts) ids.push(await upload(server, "note.txt", text));
  const storeId = await createStore(server, ids);
  expect((await takenIn(server, storeId)).file_counts).toMatchObject({ completed: texts.length });
  return storeId;
}

async function searched(server: Called, storeId: string, body: object) {
  const reply = await server.post(`/v1/vector_stores/${storeId}/search`, body);
  expect(reply.status).toBe(200);
  const { search_query: queries, data }: Reply = await reply.json();
  return { queries, texts: data.map(({ content }) => content[0]?.text) };
}

test("a model rewords a question, and its words are searched and shown", async () => {
  verifies("vector-stores.search.rewrite-query");
  const { server, callsOf } = await serveSeveral({ first: says("1. 'grey heron diet'\n") }, MODELS, { env: REWRITE });
  const storeId = await storeOf(server, "The grey heron eats fish.", "A kind question, please.");
  const query = "Could you kindly answer a question: what do those birds eat?";
  expect(await searched(server, storeId, { query, rewrite_query: true })).toEqual({
    queries: ["grey heron diet"],
    texts: ["The grey heron eats fish."],
  });
  expect(callsOf("first")).toHaveLength(1);
  const asked: unknown = JSON.parse(callsOf("first")[0]?.body ?? "");
  expect(asked).toMatchObject({ model: "a", messages: [{ role: "system" }, { role: "user", content: query }] });
  for (const rewrite_query of [false, null, undefined])
    expect((await searched(server, storeId, { query, rewrite_query })).queries).toEqual([query]);
  expect(callsOf("first")).toHaveLength(1);
});

test("several questions take one call, and no more come back than were asked", async () => {
  verifies("vector-stores.search.rewrite-query");
  const answer = says("- heron food\n\n- heron food\n- heron nest\n- heron flight");
  const { server, callsOf } = await serveSeveral({ first: answer }, MODELS, { env: REWRITE });
  const storeId = await storeOf(server, "Herons.");
  const query = ["What does a heron\neat?", "Where does it breed?"];
  const { queries } = await searched(server, storeId, { query, rewrite_query: true });
  expect(queries).toEqual(["heron food", "heron nest"]);
  expect(callsOf("first")).toHaveLength(1);
  expect(JSON.parse(callsOf("first")[0]?.body ?? "")).toMatchObject({
    messages: [{}, { content: "What does a heron eat?\nWhere does it breed?" }],
  });
});

test.each<[string, Answer]>([
  ["fails", refuses(500)],
  ["says nothing in time", saysNothing],
  ["says no word", says(" \n ")],
  ["is cut short", chunks(textChunk("grey"), lastChunk("length"))],
  ["writes an essay", says("word ".repeat(200))],
])("the question is searched as asked if the model %s, and the log says why", async (_, failing) => {
  verifies("vector-stores.search.rewrite-query");
  const warnings: string[] = [];
  const log = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) };
  const env = { ...REWRITE, REWRITE_TIMEOUT_MS: "500" };
  const { server } = await serveSeveral({ first: failing }, MODELS, { env, log });
  const storeId = await storeOf(server, "A heron.");
  const found = await searched(server, storeId, { query: "heron", rewrite_query: true });
  expect(found).toEqual({ queries: ["heron"], texts: ["A heron."] });
  expect(warnings.filter((warning) => warning.includes("the search asks as given"))).toHaveLength(1);
});

test("long questions, and stores that are not there, cost no call", async () => {
  const { server, callsOf } = await serveSeveral({ first: says("heron") }, MODELS, { env: REWRITE });
  const storeId = await storeOf(server, "A heron.");
  const query = "heron ".repeat(1_500).trim();
  expect((await searched(server, storeId, { query, rewrite_query: true })).queries).toEqual([query]);
  const body = { query: "heron", rewrite_query: true };
  expect((await server.post("/v1/vector_stores/vs_unknown/search", body)).status).toBe(404);
  expect(callsOf("first")).toHaveLength(0);
});

test("a search that its client leaves stops the call", async () => {
  const { server, callsOf } = await serveSeveral({ first: saysNothing }, MODELS, { env: REWRITE });
  const storeId = await storeOf(server, "A heron.");
  const leaving = new AbortController();
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "heron", rewrite_query: true }),
    signal: leaving.signal,
  };
  const reply = server.fetch(`/v1/vector_stores/${storeId}/search`, init);
  while (callsOf("first").length === 0) await setImmediate();
  leaving.abort();
  await expect(reply).rejects.toThrow("aborted");
  await callsOf("first")[0]?.closed;
});

test("a REWRITE_MODEL that leads to no model is told at the start", async () => {
  const { modelsFile } = await serveSeveral({ first: says("heron") }, MODELS);
  const start = startTestServer({ env: { MODELS_FILE: modelsFile, REWRITE_MODEL: "nothing" } });
  await expect(start).rejects.toThrow("REWRITE_MODEL is 'nothing', which leads to no model of MODELS_FILE.");
});
