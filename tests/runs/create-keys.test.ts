import { expect, test } from "vitest";
import { type ClientView, readEvents } from "../crash/client.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { storeSettings } from "../kit/tested-store.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { readLive } from "./live-stream.ts";
import { serveSlowModel } from "./slow-model.ts";

const KEY = "order-1";

/** Creates with a key. */
function keyed(server: Pick<TestServer, "fetch">, members: object = {}, key = KEY, signal: AbortSignal | null = null) {
  return server.fetch("/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ model: "m", input: "Hi", ...members }),
    signal,
  });
}

function isReplayed(reply: Response): boolean {
  return reply.headers.get("idempotent-replayed") === "true";
}

test("plain requests with one key get one response, at the same time and later", async () => {
  verifies("responses.create-keys.one-response");
  const { server, call, count } = await serveSlowModel();
  const asking = [keyed(server), keyed(server)];
  const model = await call(0);
  model.say("Once");
  model.finish();
  const replies = [...(await Promise.all(asking)), await keyed(server)];
  const responses = await Promise.all(replies.map((reply) => readResponse(reply)));
  expect(responses[1]).toEqual(responses[0]);
  expect(responses[2]).toEqual(responses[0]);
  expect(responses[0]).toMatchObject({ status: "completed" });
  expect(replies.filter(isReplayed)).toHaveLength(2);
  expect(count()).toBe(1);
});

test("a repeated stream begins with the first event and follows the run, which has gone on without its client", async () => {
  verifies("responses.create-keys.stream-from-the-start", "responses.create-keys.goes-on-without-client");
  const { server, call, count } = await serveSlowModel();
  const leaving = new AbortController();
  const lost = readLive(await keyed(server, { stream: true }, KEY, leaving.signal));
  lost.whole.catch(() => null);
  const id = await lost.id;
  const model = await call(0);
  model.say("One ");
  leaving.abort();
  const repeated = await keyed(server, { stream: true, stream_options: { include_obfuscation: false } });
  expect(isReplayed(repeated)).toBe(true);
  const again = readLive(repeated);
  expect(await again.id).toBe(id);
  model.say("two");
  model.finish();
  const { events } = await again.whole;
  expect(events[0]?.type).toBe("response.created");
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id } });
  expect(await readResponse(await keyed(server))).toMatchObject({ id, status: "completed" });
  expect(count()).toBe(1);
});

test("a background response is shown as it is, plain or streamed", async () => {
  verifies("responses.create-keys.one-response");
  const { server, call, count } = await serveSlowModel();
  const { id } = await readResponse(await keyed(server, { background: true }));
  const model = await call(0);
  expect(await readResponse(await keyed(server, { background: true }))).toMatchObject({ id, status: "in_progress" });
  const following = await keyed(server, { background: true, stream: true });
  model.say("Done");
  model.finish();
  expect((await readStream(following)).events.at(-1)).toMatchObject({ type: "response.completed", response: { id } });
  expect(await readResponse(await keyed(server, { background: true }))).toMatchObject({ id, status: "completed" });
  expect(count()).toBe(1);
});

test("a key stands for one body, whatever the order of its members", async () => {
  verifies("errors.catalogue.idempotency-key-reused");
  const { server, create } = await serveBehind((response) => response.writeHead(500).end());
  const background = { background: true };
  const { id } = await readResponse(await keyed(server, { metadata: { a: "1", b: "2" }, ...background }));
  const same = await keyed(server, { ...background, metadata: { b: "2", a: "1" } });
  expect((await readResponse(same)).id).toBe(id);
  const other = await keyed(server, { ...background, metadata: { a: "1", b: "3" } });
  expect(other.status).toBe(422);
  expect(await other.json()).toMatchObject({ error: { code: "idempotency_key_reused", param: null } });
  expect((await create()).status).toBe(500);
});

test("a response that is not stored, or no longer, is not made again", async () => {
  verifies("errors.catalogue.response-not-kept", "errors.catalogue.response-gone");
  const { server, call, count } = await serveSlowModel();
  const asking = keyed(server, { store: false });
  const model = await call(0);
  const early = await keyed(server, { store: false });
  model.finish();
  expect((await asking).status).toBe(200);
  for (const refused of [early, await keyed(server, { store: false })]) {
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ error: { code: "response_not_kept" } });
  }
  const stored = keyed(server, {}, "order-2");
  (await call(1)).finish();
  const { id } = await readResponse(await stored);
  await server.fetch(`/v1/responses/${id}`, { method: "DELETE" });
  const gone = await keyed(server, {}, "order-2");
  expect(gone.status).toBe(410);
  expect(await gone.json()).toMatchObject({ error: { code: "response_gone" } });
  expect(count()).toBe(2);
});

test("a request that was refused does not count, by this server or by its model server", async () => {
  verifies("responses.create-keys.refusals-do-not-count");
  let answers = 0;
  const { server, upstream } = await serveBehind((response) => {
    answers += 1;
    response.writeHead(answers === 1 ? 429 : 200, { "content-type": "application/json" });
    const message = { role: "assistant", content: "At last" };
    response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: "stop", message }] }));
  });
  expect((await keyed(server, { temperature: 9 })).status).toBe(400);
  expect((await keyed(server)).status).toBe(429);
  const reply = await keyed(server);
  expect(isReplayed(reply)).toBe(false);
  expect(JSON.stringify(await readResponse(reply))).toContain("At last");
  expect(upstream.calls).toHaveLength(2);
});

test.each(["", " ", "a b", "ä", "x".repeat(256)])("'%s' is no key", async (key) => {
  const server = await startTestServer();
  const reply = await keyed(server, {}, encodeURI(key) === key ? key : key.replace("ä", "\u00e4"));
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { code: "invalid_value" } });
});

test("a run whose client has left and does not come back is stopped", async () => {
  verifies("responses.create-keys.goes-on-without-client");
  const { server, call } = await serveSlowModel();
  const leaving = new AbortController();
  keyed(server, {}, KEY, leaving.signal).catch(() => null);
  const model = await call(0);
  const leftAt = performance.now();
  leaving.abort();
  await model.aborted;
  expect(performance.now() - leftAt).toBeGreaterThan(9_000);
}, 60_000);

test("a key is known to every server of the database", async () => {
  verifies("responses.create-keys.one-response");
  const folder = temporaryFolder();
  const { server, upstream, call } = await serveSlowModel({ DATA_DIR: folder });
  const env = { DATA_DIR: folder, MODEL_BASE_URL: `${upstream.origin}/v1`, API_KEYS: server.apiKey };
  const other = await startTestServer({ env });
  const first = keyed(server);
  const model = await call(0);
  const second = keyed(other);
  model.say("Once");
  model.finish();
  const [one, two] = await Promise.all([await first, await second].map((reply) => readResponse(reply)));
  expect(two).toEqual(one);
  expect(upstream.calls).toHaveLength(1);
});

async function startChild(folder: string, upstream: string): Promise<ChildServer> {
  const env = { NODE_ENV: "production", DATA_DIR: folder, MODEL_BASE_URL: upstream, ...(await storeSettings(folder)) };
  return await startChildServer({ env });
}

test("a key finds its background response after its server was killed", async () => {
  verifies("responses.create-keys.survives-crashes");
  const folder = temporaryFolder();
  const { upstream, call } = await serveSlowModel();
  const dying = await startChild(folder, `${upstream.origin}/v1`);
  const { id } = await readResponse(await keyed(dying, { background: true }));
  await call(0);
  await dying.kill();
  const server = await startChild(folder, `${upstream.origin}/v1`);
  const reply = await keyed(server, { background: true, stream: true });
  expect(isReplayed(reply)).toBe(true);
  const view: ClientView = { kind: "background stream", id: null, events: [] };
  const reading = readEvents(reply, view);
  const model = await call(1);
  model.say("After all");
  model.finish();
  await reading;
  expect(view.id).toBe(id);
  expect(upstream.calls).toHaveLength(2);
}, 60_000);
