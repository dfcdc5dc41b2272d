import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { FILE_SEARCH_SCENARIOS } from "../clients/file-search-scenarios.ts";
import { startToolServers } from "../clients/tool-servers.ts";
import { until } from "../crash/lives.ts";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { hangingEmbeddings } from "../vector-stores/hanging-embeddings.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { type BehindScript, calls, MCP, saysText, serveScript } from "./behind-script.ts";

const INCLUDE = { include: ["file_search_call.results"] };
const TWO_OWNERS = "sk-ours-0123456789abcdef=acme/ours,sk-theirs-0123456789abcdef=acme/theirs";
const HERONS = "Herons wait in shallow water.";

interface Filled {
  readonly storeId: string;
  readonly fileId: string;
}

async function filled(server: Pick<TestServer, "fetch" | "post">, text = HERONS, name = "herons.txt"): Promise<Filled> {
  const fileId = await upload(server, name, text);
  const storeId = await createStore(server, [fileId]);
  await takenIn(server, storeId);
  return { storeId, fileId };
}

function toolFor(...storeIds: readonly string[]) {
  return { type: "file_search", vector_store_ids: storeIds };
}

function asks(...queries: readonly string[]) {
  return calls(["file_search", JSON.stringify({ queries })]);
}

/** The messages of the last request that hold what tools told. */
function told({ asked }: BehindScript): string {
  return JSON.stringify(asked.at(-1)?.messages.filter(({ role }) => role === "tool"));
}

test("a search streams in the order of the reference, and its markers become citations", async () => {
  verifies("tools.file-search.cites-files", "responses.stream.file-search-order");
  const server = await startTestServer({ scenario: FILE_SEARCH_SCENARIOS });
  const { storeId, fileId } = await filled(server);
  const body = { model: "gpt-5-mini", input: "herons", tools: [toolFor(storeId)] };
  const plain = await readResponse(await server.post("/v1/responses", body));
  expect(plain.output[0]).toMatchObject({ type: "file_search_call", status: "completed", results: null });
  const stream = await readStream(await server.post("/v1/responses", { ...body, ...INCLUDE, stream: true }));
  checkStreamLaws(stream);
  const types = stream.events.map(({ type }) => type.replace(/^response\./, ""));
  expect(types.slice(0, 8)).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "file_search_call.in_progress",
    "file_search_call.searching",
    "file_search_call.completed",
    "output_item.done",
    "output_item.added",
  ]);
  const result = { file_id: fileId, filename: "herons.txt", text: HERONS, vector_store_id: storeId, attributes: {} };
  const annotation = { type: "file_citation", file_id: fileId, filename: "herons.txt", index: 10 };
  expect(stream.final.output).toMatchObject([
    { type: "file_search_call", queries: ["heron hunting"], results: [result] },
    { content: [{ text: "They wait. Yes.", annotations: [annotation] }] },
  ]);
  expect(stream.text).not.toContain("【");
});

test.each([true, false])(
  "the label of a result is a marker, and no blank stays before it, streamed: %j",
  async (stream) => {
    verifies("tools.citations.by-label", "tools.citations.no-blank-left");
    const chunks = ["They", " wait ", "[", "file", ":1", "]", " in ", "water ", "【file:1】", "."].map((text) =>
      textChunk(text),
    );
    const script = await serveScript([asks("heron"), [...chunks, lastChunk("stop")]]);
    const { storeId, fileId } = await filled(script.server);
    const reply = await script.create({ tools: [toolFor(storeId)], stream });
    const { output } = stream ? (await readStream(reply)).final : await readResponse(reply);
    const cited = { type: "file_citation", file_id: fileId, filename: "herons.txt" };
    const annotations = [9, 18].map((index) => ({ ...cited, index }));
    expect(output.at(-1)).toMatchObject({ content: [{ text: "They wait in water.", annotations }] });
  },
);

test.each(["stopped", "broken off"])("what may have become a marker is shown when the answer is %s", async (how) => {
  verifies("tools.citations.no-blank-left");
  const { promise, resolve } = Promise.withResolvers<void>();
  onTestFinished(() => resolve());
  const broken = [textChunk("They wait [fi"), promise, { error: { message: "It is gone.", code: 500 } }];
  const script = await serveScript([asks("heron"), broken], { MODEL_RETRIES: "0" });
  const { storeId } = await filled(script.server);
  const events = await script.client.responses.create({
    model: "m",
    input: "Hi",
    tools: [{ type: "file_search", vector_store_ids: [storeId] }],
    background: true,
    stream: true,
  });
  let [id, text] = ["", ""];
  const read = async (): Promise<void> => {
    for await (const event of events) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type !== "response.output_text.delta") continue;
      if (text === "" && how === "stopped") await script.server.post(`/v1/responses/${id}/cancel`, {});
      else if (text === "") resolve();
      text += event.delta;
    }
  };
  if (how === "stopped") await read();
  else await expect(read()).rejects.toThrow("It is gone.");
  const { status, output } = await readResponse(await script.server.fetch(`/v1/responses/${id}`));
  expect([status, text]).toEqual([how === "stopped" ? "cancelled" : "failed", "They wait [fi"]);
  expect(output.at(-1)).toMatchObject({ status: "incomplete", content: [{ text }] });
});

test("several stores are searched together, each once, and the model is told passages by number", async () => {
  verifies("tools.file-search.searches-all-stores");
  const script = await serveScript([asks("water birds"), saysText("Both.【file:1】【file:2】")]);
  const one = await filled(script.server, "Herons are birds of the water.", "one.txt");
  const two = await filled(script.server, "Ducks are birds of the water too.", "two.txt");
  const tools = [toolFor(one.storeId, two.storeId, one.storeId)];
  const { output } = await readResponse(await script.create({ tools, ...INCLUDE }));
  const [call, message] = output;
  if (call?.type !== "file_search_call") throw new Error("no search");
  expect(call.results?.map(({ vector_store_id: id }) => id).toSorted()).toEqual([one.storeId, two.storeId].toSorted());
  expect(message).toMatchObject({ content: [{ text: "Both.", annotations: [{ index: 5 }, { index: 5 }] }] });
  expect(told(script)).toContain("[file:1]");
  expect(told(script)).toContain("Ducks are birds");
});

test("the model is shown the headings of a piece and the names of its columns", async () => {
  verifies("vector-stores.search.context-of-pieces");
  const rows = Array.from({ length: 200 }, (_, row) => `| bird ${row} | ${row * 3} |`).join("\n");
  const text = `# Birds\n\n## Weights\n\n| name | grams |\n|---|---|\n${rows}\n`;
  const script = await serveScript([asks("190"), saysText("570.")]);
  const { storeId } = await filled(script.server, text, "birds.md");
  await readResponse(await script.create({ tools: [{ ...toolFor(storeId), max_num_results: 1 }] }));
  expect(told(script)).toContain("[file:1] birds.md (Birds > Weights)\\n| name | grams |\\n| bird ");
  expect(told(script)).toContain("| bird 190 | 570 |");
});

test("the model is told of a search by meaning only where there is one", async () => {
  verifies("tools.file-search.describes-its-search");
  for (const [env, words] of [
    [{}, "Searches the user's files by their words"],
    [{ EMBEDDING_MODEL: "words-64" }, "Searches the user's files by meaning and words"],
  ] as const) {
    const script = await serveScript([saysText("Hi.")], env);
    const storeId = await createStore(script.server, []);
    await readResponse(await script.create({ tools: [toolFor(storeId)] }));
    expect(JSON.stringify(script.asked[0])).toContain(words);
  }
});

test("filters, thresholds, weights and the number of results hold", async () => {
  const script = await serveScript([asks("heron")]);
  const { server } = script;
  const ids = [await upload(server, "a.txt", "A heron of 2020."), await upload(server, "b.txt", "A heron of 2024.")];
  const storeId = await createStore(server, []);
  const files = ids.map((file_id, index) => ({ file_id, attributes: { year: 2020 + index * 4 } }));
  await server.post(`/v1/vector_stores/${storeId}/file_batches`, { files });
  await takenIn(server, storeId);
  const found = async (members: object): Promise<readonly (string | undefined)[]> => {
    const tools = [{ ...toolFor(storeId), ...members }];
    const { output } = await readResponse(await script.create({ tools, ...INCLUDE, max_tool_calls: 1 }));
    const [call] = output;
    return call?.type === "file_search_call" ? (call.results ?? []).map((result) => result.filename).toSorted() : [];
  };
  expect(await found({})).toEqual(["a.txt", "b.txt"]);
  expect(await found({ filters: { type: "gt", key: "year", value: 2020 } })).toEqual(["b.txt"]);
  expect(await found({ max_num_results: 1 })).toHaveLength(1);
  expect(await found({ ranking_options: { score_threshold: 0.99 } })).toEqual([]);
  const hybrid_search = { embedding_weight: 0, text_weight: 1 };
  expect(await found({ ranking_options: { ranker: "auto", hybrid_search } })).toEqual(["a.txt", "b.txt"]);
});

test("unknown, foreign and expired stores are refused before the model is asked", async () => {
  verifies("tools.file-search.unknown-store", "tools.file-search.expired-store");
  const script = await serveScript([saysText("Never.")], { API_KEYS: TWO_OWNERS });
  const { storeId } = await filled(script.server);
  const refusal = async (id: string, key = script.server.apiKey) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const body = JSON.stringify({ model: "m", input: "Hi", tools: [toolFor(id)] });
    const reply = await script.server.fetch("/v1/responses", { method: "POST", headers, body });
    const { error } = await reply.json();
    return [reply.status, error.param, error.message];
  };
  const missing = (id: string) => [404, "tools", `Vector store with id '${id}' not found.`];
  expect(await refusal("vs_unknown")).toEqual(missing("vs_unknown"));
  expect(await refusal(storeId, "sk-theirs-0123456789abcdef")).toEqual(missing(storeId));
  await query(script.server.dataDir, "update vector_stores set is_expired = 1");
  expect(await refusal(storeId)).toEqual([400, "tools", `Vector store with id '${storeId}' is expired.`]);
  expect(script.asked).toEqual([]);
});

test("a search goes beside an MCP server and a web search in one response", async () => {
  const others = await startToolServers((close) => onTestFinished(close));
  const script = await serveScript(
    [
      calls(
        ["file_search", '{"queries":["heron"]}'],
        ["echo", '{"text":"x"}'],
        ["web_search", '{"queries":["heron"]}'],
      ),
      saysText("They wait.【file:1】【web:1】"),
    ],
    others.env,
  );
  const { storeId, fileId } = await filled(script.server);
  const tools = [toolFor(storeId), MCP, { type: "web_search" }];
  const stream = await readStream(await script.create({ tools, stream: true }));
  checkStreamLaws(stream);
  expect(stream.final.output.map(({ type }) => type)).toEqual([
    "mcp_list_tools",
    "file_search_call",
    "mcp_call",
    "web_search_call",
    "message",
  ]);
  expect(stream.final.output.at(-1)).toMatchObject({
    content: [{ annotations: expect.arrayContaining([expect.objectContaining({ file_id: fileId })]) }],
  });
});

test.each([{ background: true }, { store: false }, {}])("the next turn knows the passages: %j", async (members) => {
  const script = await serveScript([asks("heron"), saysText("They wait.【file:1】")]);
  const { storeId } = await filled(script.server);
  const shared = { tools: [toolFor(storeId)], ...INCLUDE };
  let first = await readResponse(await script.create({ ...shared, ...members }));
  while (first.status === "queued" || first.status === "in_progress")
    first = await readResponse(await script.server.fetch(`/v1/responses/${first.id}?include=${INCLUDE.include[0]}`));
  expect(first.output).toMatchObject([{ type: "file_search_call", results: [{ text: HERONS }] }, { type: "message" }]);
  const next =
    "store" in members
      ? { input: [{ role: "user", content: "Hi" }, ...first.output, { role: "user", content: "Why?" }] }
      : { input: "Why?", previous_response_id: first.id };
  const second = await readResponse(await script.create({ ...shared, ...next }));
  expect(second.status).toBe("completed");
  expect(told(script)).toContain(HERONS);
});

test("a search runs over a WebSocket", async () => {
  const server = await startTestServer({ scenario: FILE_SEARCH_SCENARIOS });
  const { storeId, fileId } = await filled(server);
  const socket = await openSocket(server);
  const turn = await socket.create({ model: "gpt-5-mini", input: "herons", tools: [toolFor(storeId)], ...INCLUDE });
  expect(turn.response.output).toMatchObject([
    { type: "file_search_call", results: [{ file_id: fileId }] },
    { content: [{ annotations: [{ type: "file_citation", file_id: fileId }] }] },
  ]);
});

test("a model that writes no question, or finds nothing, is told so", async () => {
  const script = await serveScript([calls(["file_search", '{"queries":[]}']), asks("zebra"), saysText("Nothing.")]);
  const { storeId } = await filled(script.server);
  const { output } = await readResponse(await script.create({ tools: [toolFor(storeId)], ...INCLUDE }));
  expect(output).toMatchObject([
    { type: "file_search_call", status: "failed" },
    { type: "file_search_call", status: "completed", results: [] },
    { type: "message" },
  ]);
  expect(told(script)).toContain("Nothing was found");
});

test("a store that is deleted between two searches fails the second one only", async () => {
  const script = await serveScript([asks("heron"), calls(["slow", "{}"]), asks("heron"), saysText("Gone.")]);
  const { storeId } = await filled(script.server);
  const run = script.create({ tools: [toolFor(storeId), MCP] });
  await expect.poll(() => script.asked.length, { interval: 1 }).toBeGreaterThan(1);
  await script.server.fetch(`/v1/vector_stores/${storeId}`, { method: "DELETE" });
  const { status, output } = await readResponse(await run);
  expect(status).toBe("completed");
  const searches = output.filter(({ type }) => type === "file_search_call");
  expect(searches).toMatchObject([{ status: "completed" }, { status: "failed" }]);
});

test("a background response goes on after its process was killed in a search", { timeout: 60_000 }, async () => {
  const [folder, embeddings] = [temporaryFolder(), await hangingEmbeddings("heron hunting")];
  const start = () =>
    startChildServer({ scenario: FILE_SEARCH_SCENARIOS, env: { DATA_DIR: folder, ...embeddings.env } });
  const first = await start();
  const { storeId, fileId } = await filled(first);
  const body = { model: "gpt-5-mini", input: "herons", tools: [toolFor(storeId)], background: true };
  const { id } = await readResponse(await first.post("/v1/responses", body));
  await expect.poll(embeddings.marked, { timeout: 20_000 }).toBe(1);
  await first.kill();
  const second = await start();
  const { status, output } = await until(second, id, "completed", "failed");
  expect(status).toBe("completed");
  expect(output.at(-1)).toMatchObject({ content: [{ annotations: [{ type: "file_citation", file_id: fileId }] }] });
  const client = new OpenAI({ baseURL: `${second.url}/v1`, apiKey: second.apiKey });
  expect((await client.vectorStores.retrieve(storeId)).file_counts.completed).toBe(1);
});
