import { expect, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startChildServer } from "../kit/child-server.ts";
import { verifies } from "../verifies.ts";

const WORDS = 20;
const WORD_MS = 100;
const DELAY_MS = 1_500;

/** A model server that takes two seconds per answer. */
async function startSlowModel(): Promise<string> {
  const upstream = await serveChat(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let word = 0; word < WORDS; word++) {
      response.write(sse(textChunk(`word${word} `)));
      await new Promise((resolve) => setTimeout(resolve, WORD_MS));
    }
    response.end(sse(lastChunk("stop"), "[DONE]"));
  });
  return `${upstream.origin}/v1`;
}

test("a stopping server reports it at once, serves requests for the delay, and lets its streams end completely", async () => {
  verifies("operations.drain.announced");
  const child = await startChildServer({
    env: { MODEL_BASE_URL: await startSlowModel(), DRAIN_DELAY_MS: `${DELAY_MS}ms` },
  });
  expect((await child.fetch("/readyz")).status).toBe(200);
  const stream = await child.post("/v1/responses", { model: "m", input: "Tell", stream: true });
  const text = stream.text();
  const toldAt = performance.now();
  const stopped = child.stop();
  await expect.poll(async () => (await child.fetch("/readyz")).status, { interval: 20 }).toBe(503);
  expect(performance.now() - toldAt).toBeLessThan(DELAY_MS / 2);
  expect(await (await child.fetch("/readyz")).json()).toMatchObject({
    status: "unavailable",
    checks: { store: "ok", server: "unavailable" },
  });
  expect((await child.fetch("/healthz")).status).toBe(200);
  const late = await child.post("/v1/responses", { model: "m", input: "Tell", store: false, stream: true });
  expect(late.status).toBe(200);
  expect(late.headers.get("connection")).toBe("close");
  const lateText = late.text();
  for (const whole of [await text, await lateText]) {
    expect(whole).toContain("event: response.completed");
    expect(whole).toContain(`word${WORDS - 1} `);
  }
  expect(await stopped).toBe(0);
  expect(performance.now() - toldAt).toBeGreaterThan(DELAY_MS);
  await expect(child.fetch("/readyz")).rejects.toThrow("fetch failed");
});

test("a background response that outlasts the drain is left to another server, and the log says so", async () => {
  verifies("operations.log.run-lines");
  const child = await startChildServer({
    env: { MODEL_BASE_URL: await startSlowModel(), DRAIN_MS: "200", LOG_LEVEL: "info" },
  });
  const { id } = await (await child.post("/v1/responses", { model: "m", input: "Tell", background: true })).json();
  expect(await child.stop()).toBe(0);
  const ofRun = child.lines().filter((line) => line["responseId"] === id);
  expect(ofRun.map(({ msg }) => msg)).toEqual(["run began", "run left to another server"]);
});

test("without a delay a stopping server accepts no more connections, and its streams still end completely", async () => {
  verifies("transport.drain.sigterm-finishes-requests");
  const child = await startChildServer({ env: { MODEL_BASE_URL: await startSlowModel() } });
  const stream = await child.post("/v1/responses", { model: "m", input: "Tell", stream: true });
  const text = stream.text();
  const stopped = child.stop();
  await expect
    .poll(
      () =>
        child.fetch("/readyz").then(
          ({ status }) => status,
          () => "refused",
        ),
      { interval: 20 },
    )
    .toBe("refused");
  expect(await text).toContain("event: response.completed");
  expect(await stopped).toBe(0);
});
