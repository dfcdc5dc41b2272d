import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { Antiphon, APIConnectionError, APIError, APIUserAbortError } from "../index.ts";
import { collect, eventText, openEvents, sendJson, startLocalServer } from "./local-server.fixture.ts";
import { retryWaitMs } from "./retry.ts";

const SOON = { "retry-after-ms": "1" };
const MODELS = { object: "list", data: [] };
const NOW = Date.parse("2026-11-21T12:00:00Z");

describe("the wait before a retry", () => {
  test.each([
    { retries: 0, chance: 0, waitMs: 500 },
    { retries: 0, chance: 1, waitMs: 375 },
    { retries: 1, chance: 0, waitMs: 1000 },
    { retries: 9, chance: 0, waitMs: 8000 },
  ])("try $retries with chance $chance waits $waitMs ms", ({ retries, chance, waitMs }) => {
    expect(retryWaitMs(new APIConnectionError("broken"), { retries, nowMs: NOW, chance })).toBe(waitMs);
  });

  test.each([
    { status: 429, headers: { "retry-after": "7" }, waitMs: 7000 },
    { status: 429, headers: { "retry-after": "0" }, waitMs: 0 },
    { status: 503, headers: { "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }, waitMs: 30_000 },
    { status: 503, headers: { "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, waitMs: 0 },
    { status: 429, headers: { "retry-after": "7", "retry-after-ms": "20" }, waitMs: 20 },
    { status: 429, headers: { "retry-after": "soon" }, waitMs: 500 },
    { status: 429, headers: { "retry-after": "3600" }, waitMs: null },
    { status: 429, headers: { "x-should-retry": "false" }, waitMs: null },
    { status: 400, headers: { "x-should-retry": "true" }, waitMs: 500 },
    { status: 400, headers: { "retry-after": "1" }, waitMs: null },
  ])("$status with $headers waits $waitMs", ({ status, headers, waitMs }) => {
    verifies("client.retries.honour-retry-after");
    expect(retryWaitMs(apiError(status, headers), { retries: 0, nowMs: NOW, chance: 0 })).toBe(waitMs);
  });
});

test.each([408, 409, 429, 500, 502, 503])("status %i is retried until it succeeds", async (status) => {
  verifies("client.retries.on-transient-failures");
  await using server = await startLocalServer((reply, _, count) =>
    count < 3 ? sendJson(reply, status, {}, SOON) : sendJson(reply, 200, MODELS),
  );
  expect(await new Antiphon({ baseUrl: server.url }).listModels()).toEqual(MODELS);
  expect(server.requests).toHaveLength(3);
});

test.each([400, 401, 403, 404, 413, 422])("status %i is not retried", async (status) => {
  verifies("client.retries.on-transient-failures");
  await using server = await startLocalServer((reply) => sendJson(reply, status, {}, SOON));
  await expect(new Antiphon({ baseUrl: server.url }).listModels()).rejects.toMatchObject({ status });
  expect(server.requests).toHaveLength(1);
});

test.each([
  { ofClient: undefined, ofCall: undefined, tries: 3 },
  { ofClient: 1, ofCall: undefined, tries: 2 },
  { ofClient: 1, ofCall: 0, tries: 1 },
  { ofClient: 0, ofCall: 4, tries: 5 },
])(
  "retriesMax $ofClient of the client and $ofCall of the call make $tries tries",
  async ({ ofClient, ofCall, tries }) => {
    verifies("client.retries.on-transient-failures");
    await using server = await startLocalServer((reply) => sendJson(reply, 503, {}, SOON));
    const client = new Antiphon({ baseUrl: server.url, ...(ofClient === undefined ? {} : { retriesMax: ofClient }) });
    const call = client.listModels(ofCall === undefined ? {} : { retriesMax: ofCall });
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(tries);
  },
);

test("a connection that breaks before the reply is retried", async () => {
  verifies("client.retries.on-transient-failures");
  await using server = await startLocalServer((reply, _, count) =>
    count === 1 ? void reply.destroy() : sendJson(reply, 200, MODELS),
  );
  expect(await new Antiphon({ baseUrl: server.url }).listModels()).toEqual(MODELS);
});

test("a JSON reply that breaks off is retried", async () => {
  verifies("client.retries.on-transient-failures");
  await using server = await startLocalServer((reply, _, count) => {
    if (count > 1) return sendJson(reply, 200, MODELS);
    reply.writeHead(200, { "content-length": "100" }).write("{");
    setTimeout(() => reply.destroy(), 20);
  });
  expect(await new Antiphon({ baseUrl: server.url }).listModels()).toEqual(MODELS);
});

test("a retry waits for a Retry-After of one second", async () => {
  verifies("client.retries.honour-retry-after");
  const times: number[] = [];
  await using server = await startLocalServer((reply, _, count) => {
    times.push(performance.now());
    if (count === 1) sendJson(reply, 429, {}, { "retry-after": "1" });
    else sendJson(reply, 200, MODELS);
  });
  await new Antiphon({ baseUrl: server.url }).listModels();
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThan(980);
  expect(second - first).toBeLessThan(2000);
});

test("all attempts of a POST share one Idempotency-Key, and other calls have another", async () => {
  await using server = await startLocalServer((reply) => sendJson(reply, 500, {}, SOON));
  const client = new Antiphon({ baseUrl: server.url, retriesMax: 1 });
  const create = () => client.createResponse({ model: "m", input: "x" }).catch(() => undefined);
  await create();
  await create();
  const [a, b, c, d] = server.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(a).toMatch(/^antiphon-[0-9a-f]{32}$/);
  expect([b, d]).toEqual([a, c]);
  expect(c).not.toBe(a);
  expect(server.requests[1]?.body).toBe('{"model":"m","input":"x"}');
});

test("the caller's Idempotency-Key is kept", async () => {
  await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
  await new Antiphon({ baseUrl: server.url }).createResponse(
    { model: "m" },
    { headers: { "Idempotency-Key": "mine" } },
  );
  expect(server.requests[0]?.headers["idempotency-key"]).toBe("mine");
});

test("a stream is retried before it begins, and never after", async () => {
  verifies("client.retries.on-transient-failures");
  await using server = await startLocalServer((reply, _, count) => {
    if (count === 1) return sendJson(reply, 503, {}, SOON);
    openEvents(reply);
    reply.write(eventText({ type: "response.created" }));
    setTimeout(() => reply.destroy(), 20);
  });
  const stream = await new Antiphon({ baseUrl: server.url }).createResponse({ model: "m", stream: true });
  await expect(collect(stream)).rejects.toThrow(APIConnectionError);
  expect(server.requests).toHaveLength(2);
});

test("an abort ends the wait for the next try at once", async () => {
  verifies("client.abort.signal-ends-call");
  await using server = await startLocalServer((reply) => sendJson(reply, 503, {}, { "retry-after": "30" }));
  const controller = new AbortController();
  const call = new Antiphon({ baseUrl: server.url }).listModels({ signal: controller.signal });
  setTimeout(() => controller.abort("enough"), 100);
  const startedAt = performance.now();
  await expect(call).rejects.toMatchObject({ name: "APIUserAbortError", cause: "enough" });
  await expect(call).rejects.toBeInstanceOf(APIUserAbortError);
  expect(performance.now() - startedAt).toBeLessThan(5000);
  expect(server.requests).toHaveLength(1);
});

function apiError(status: number, headers: Record<string, string>): APIError {
  return new APIError({
    message: "No.",
    status,
    code: null,
    param: null,
    type: null,
    requestId: null,
    headers: new Headers(headers),
  });
}
