import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { checkCreate } from "../responses/check-refusal.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { pollUntil } from "./poll.ts";
import { serveSlowModel } from "./slow-model.ts";

async function serve(): Promise<TestServer> {
  return await startTestServer();
}

/** A model server that fails is asked once. */
const ONE_ATTEMPT = { MODEL_RETRIES: "0" };

const hello = { model: "antiphon-built-in", input: "say hello there" };

test("a background response is queued at first, and completes", async () => {
  verifies("responses.background.returns-queued-at-once", "response.status.background-machine");
  const server = await serve();
  const queued = await readResponse(await server.post("/v1/responses", { ...hello, background: true }));
  expect(queued).toMatchObject({ status: "queued", background: true, output: [], usage: null, completed_at: null });
  expect(queued).not.toHaveProperty("billing");
  const done = await pollUntil(server, queued.id, "completed");
  expect(done).toMatchObject({ background: true, error: null, output: [{ type: "message", status: "completed" }] });
});

test("a background stream starts as queued, has no padding, and is stored as it was shown", async () => {
  verifies("responses.stream.background-prefix", "responses.stream.no-obfuscation-in-background");
  const server = await serve();
  const stream = await readStream(await server.post("/v1/responses", { ...hello, background: true, stream: true }));
  const types = stream.events.map(({ type }) => type);
  expect(types.slice(0, 4)).toEqual([
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.output_item.added",
  ]);
  expect(stream.events.slice(0, 3).map((event) => ("response" in event ? event.response.status : null))).toEqual([
    "queued",
    "queued",
    "in_progress",
  ]);
  expect(stream.text).not.toContain("obfuscation");
  expect(types.at(-1)).toBe("response.completed");
  expect(await pollUntil(server, stream.final.id, "completed")).toMatchObject({ output: stream.final.output });
});

test("a background response continues after its client has left", async () => {
  verifies("responses.background.survives-the-client");
  const { server, create, call } = await serveSlowModel();
  const controller = new AbortController();
  const reply = await create({ background: true, stream: true }, controller.signal);
  const model = await call(0);
  model.say("Still");
  const id = /"id":"(resp_[0-9a-f]+)"/.exec(await firstText(reply))?.[1] ?? "";
  controller.abort();
  model.say(" here");
  model.finish();
  expect(await pollUntil(server, id, "completed")).toMatchObject({ output: [{ content: [{ text: "Still here" }] }] });
});

test("if the model server refuses, a background response ends as failed, without an in_progress event", async () => {
  const { server, create } = await serveBehind((response) => {
    response.writeHead(429, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "slow down", type: "requests", code: "rate_limit_exceeded" } }));
  }, ONE_ATTEMPT);
  const stream = await readStream(await create({ background: true, stream: true }));
  expect(stream.events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.queued",
    "error",
    "response.failed",
  ]);
  expect(stream.final).toMatchObject({ status: "failed", error: { code: "rate_limit_exceeded" }, usage: null });
  expect(await pollUntil(server, stream.final.id, "failed")).toMatchObject({ error: { code: "rate_limit_exceeded" } });
});

test("background runs wait in order, and the queue has a maximum", async () => {
  verifies("errors.catalogue.overloaded");
  const { server, create, call, count } = await serveSlowModel({ BACKGROUND_RUNS_MAX: "1", RUN_QUEUE_MAX: "2" });
  const ids: string[] = [];
  // One after the other, because the order of requests on several connections is up to the network.
  for (let run = 0; run < 3; run++) ids.push((await readResponse(await create({ background: true }))).id);
  const refused = await create({ background: true });
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ error: { code: "server_is_overloaded" } });
  for (const [index, id] of ids.entries()) {
    const model = await call(index);
    expect(count()).toBe(index + 1);
    await pollUntil(server, id, "in_progress");
    model.finish();
    await pollUntil(server, id, "completed");
  }
});

test("a run that takes too long ends as failed", async () => {
  const { server, create, call } = await serveSlowModel({ RUN_TIMEOUT_MS: "200" });
  const { id } = await readResponse(await create({ background: true }));
  const model = await call(0);
  model.say("Well");
  await model.aborted;
  const failed = await pollUntil(server, id, "failed");
  expect(failed).toMatchObject({ error: { code: "server_error" }, output: [{ status: "incomplete" }] });
  const foreground = await readStream(await create({ stream: true }));
  expect(foreground.events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
});

test("a running background response cannot be continued, a finished one can", async () => {
  const { server, create, call } = await serveSlowModel();
  const { id } = await readResponse(await create({ background: true }));
  const model = await call(0);
  expect((await create({ previous_response_id: id })).status).toBe(400);
  model.finish();
  await pollUntil(server, id, "completed");
  const chained = create({ previous_response_id: id });
  (await call(1)).finish();
  expect((await chained).status).toBe(200);
});

test("a background response that is not stored is refused", async () => {
  await checkCreate(
    await serve(),
    { background: true, store: false },
    {
      code: "unsupported_parameter",
      param: "background",
      message: /store/,
    },
  );
});

async function firstText(reply: Response): Promise<string> {
  const reader = reply.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  reader?.releaseLock();
  return new TextDecoder().decode(value);
}
