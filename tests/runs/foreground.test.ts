import { connect } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { conversationCalls } from "../conversations/call-conversations.ts";
import { query, refuseResponses, takeResponses } from "../kit/tested-store.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { pollUntil } from "./poll.ts";
import { serveSlowModel } from "./slow-model.ts";

async function pollRows(server: { readonly dataDir: string }, sql: string): Promise<void> {
  while ((await query(server.dataDir, sql)).length === 0) await sleep(20);
}

function* endlessPages(): Generator<string> {
  const page = sse(...Array.from({ length: 100 }, () => textChunk("x".repeat(1_000))));
  for (;;) yield page;
}

test("a request whose model does not accept it in time gets an error, and frees its place", async () => {
  verifies("limits.runs.time-is-kept");
  const { create } = await serveBehind(() => {}, { RUN_TIMEOUT_MS: "200", RUNS_MAX: "1" });
  for (const members of [{}, { stream: true }, { store: false }]) {
    const text = await (await create(members)).text();
    expect(text).toMatch(/"status": ?"failed"/);
    expect(text).toContain("took longer than");
  }
});

test("a run whose client stopped reading still gets its full time", async () => {
  verifies("limits.runs.time-is-kept");
  const { server, create } = await serveBehind(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      void pipeline(Readable.from(endlessPages()), response).catch(() => null);
    },
    { RUN_TIMEOUT_MS: "1500", RUNS_MAX: "1", ANSWER_TEXT_CHARACTERS_MAX: "5242880" },
  );
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).pause();
  const body = JSON.stringify({ model: "m", input: "Hi", stream: true, store: false });
  socket.write(
    `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await sleep(1_000);
  expect((await create()).status).toBe(503);
  const controller = new AbortController();
  await expect.poll(async () => (await create({ stream: true }, controller.signal)).status).toBe(200);
  controller.abort();
  socket.destroy();
});

test("a model whose answer cannot be stored is stopped", async () => {
  const { server, create, call } = await serveSlowModel();
  await refuseResponses(server.dataDir, "insert");
  const reply = create();
  const model = await call(0);
  expect((await reply).status).toBe(500);
  await model.aborted;
});

test("a response whose end could not be stored does not stay in progress", async () => {
  verifies("state.lease.unmade-runs-end");
  const { server, create, call } = await serveSlowModel();
  await refuseResponses(server.dataDir, "update", "completed");
  for (const [index, members] of [{}, { background: true }].entries()) {
    const reply = create(members);
    const model = await call(index);
    // A plain response is stored before its end only if it takes long.
    if (index === 0) await pollRows(server, "select id from responses");
    model.say("Well");
    model.finish();
    const { id } = await readResponse(await reply);
    expect(await pollUntil(server, id, "failed")).toMatchObject({ error: { code: "server_error" } });
  }
});

test("a plain response that could not be stored is an error, and frees its conversation", async () => {
  const { server, create, call } = await serveSlowModel();
  const { id: conversation } = await conversationCalls(server).create();
  await refuseResponses(server.dataDir, "insert", "completed");
  const reply = create({ conversation });
  const model = await call(0);
  model.finish();
  expect((await reply).status).toBe(500);
  expect(await query(server.dataDir, "select id from responses")).toEqual([]);
  await takeResponses(server.dataDir);
  const next = create({ conversation });
  (await call(1)).finish();
  expect((await readResponse(await next)).status).toBe("completed");
});
