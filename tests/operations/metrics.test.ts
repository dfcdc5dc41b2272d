import { get } from "node:http";
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import type { Metric } from "../../src/telemetry/metric.ts";
import { METRICS } from "../../src/telemetry/metric-table.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { type Answer, chunks, delta, says, serveBehind, usageChunk } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const ANSWER = chunks(
  delta({ content: "Hello" }),
  delta({ content: " there" }),
  { id: "chatcmpl-1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  usageChunk({
    prompt_tokens: 21,
    completion_tokens: 8,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 5 },
  }),
);

/** The series of a scrape: name with labels, as printed, and value. */
async function scrape(server: Pick<TestServer, "url">): Promise<ReadonlyMap<string, number>> {
  const reply = await fetch(`${server.url}/metrics`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await reply.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

describe("the metrics count", () => {
  test("requests, runs, events, tokens and commits of foreground and background responses", async () => {
    verifies("operations.metrics.prometheus-text");
    const { server, create } = await serveBehind(ANSWER);
    await (await create({ stream: true })).text();
    await (await create({ store: false })).json();
    const { id } = await (await create({ background: true })).json();
    await expect.poll(async () => (await (await server.fetch(`/v1/responses/${id}`)).json()).status).toBe("completed");
    const series = await scrape(server);
    const expected: Readonly<Record<string, number>> = {
      'antiphon_http_requests_total{operation="createResponse",status="200"}': 3,
      'antiphon_http_request_duration_seconds_count{operation="createResponse"}': 3,
      antiphon_http_requests_in_flight: 1, // The scrape itself.
      antiphon_streams_open: 0,
      'antiphon_runs_begun_total{mode="foreground"}': 2,
      'antiphon_runs_begun_total{mode="background"}': 1,
      'antiphon_runs_ended_total{mode="foreground",status="completed"}': 2,
      'antiphon_runs_ended_total{mode="background",status="completed"}': 1,
      'antiphon_runs_ended_total{mode="foreground",status="failed"}': 0,
      'antiphon_run_first_event_seconds_count{mode="foreground"}': 2,
      'antiphon_run_duration_seconds_count{mode="background"}': 1,
      antiphon_run_queue_seconds_count: 1,
      antiphon_runs_queued: 0,
      'antiphon_runs_running{mode="foreground"}': 0,
      'antiphon_tokens_total{type="input"}': 63,
      'antiphon_tokens_total{type="cached_input"}': 15,
      'antiphon_tokens_total{type="output"}': 24,
      'antiphon_model_errors_total{reason="rate_limit"}': 0,
      'antiphon_store_commits_total{outcome="failed"}': 0,
    };
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, series.get(name)]))).toEqual(expected);
    expect(series.get("antiphon_run_events_total")).toBeGreaterThanOrEqual(3 * 2);
    expect(series.get('antiphon_store_commits_total{outcome="stored"}')).toBeGreaterThan(0);
    expect(series.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(series.get('antiphon_event_loop_delay_seconds{quantile="1"}')).toBeGreaterThanOrEqual(0);
  });

  test("open streams, running runs and queued ones", async () => {
    verifies("operations.metrics.prometheus-text");
    const opened = Promise.withResolvers<void>();
    const answer: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("Once")));
      return opened.promise.then(() => response.end(sse("[DONE]")));
    };
    const { server, create } = await serveBehind(answer, { BACKGROUND_RUNS_MAX: "1" });
    const streams = await Promise.all([create({ stream: true }), create({ stream: true })]);
    for (let count = 0; count < 3; count++) await (await create({ background: true })).json();
    const series = await scrape(server);
    expect(series.get("antiphon_streams_open")).toBe(2);
    expect(series.get('antiphon_runs_running{mode="foreground"}')).toBe(2);
    expect(series.get('antiphon_runs_running{mode="background"}')).toBe(1);
    expect(series.get("antiphon_runs_queued")).toBe(2);
    opened.resolve();
    await Promise.all(streams.map((stream) => stream.text()));
    await expect.poll(async () => (await scrape(server)).get("antiphon_streams_open")).toBe(0);
    await expect.poll(async () => (await scrape(server)).get("antiphon_runs_queued")).toBe(0);
  });

  test("why model servers gave no answer, and why runs were refused or failed", async () => {
    verifies("operations.metrics.prometheus-text");
    const statuses = [401, 403, 402, 429, 404, 500, 503, 418];
    const { server, create } = await serveBehind(
      (response) => response.writeHead(statuses.shift() ?? 200).end('{"error":{"message":"no"}}'),
      { RUNS_MAX: "100" },
    );
    while (statuses.length > 0) await (await create()).text();
    const series = await scrape(server);
    expect(series.get('antiphon_model_errors_total{reason="authentication"}')).toBe(2); // 401 and 403.
    const reasons = ["quota", "rate_limit", "failed", "overloaded", "refused"];
    for (const reason of reasons) expect(series.get(`antiphon_model_errors_total{reason="${reason}"}`), reason).toBe(1);
    expect(series.get('antiphon_runs_refused_total{reason="model"}')).toBe(8);
    expect(series.get('antiphon_runs_ended_total{mode="foreground",status="failed"}')).toBe(0);
  });

  test("open WebSockets", async () => {
    verifies("operations.metrics.prometheus-text");
    const { server } = await serveBehind(says("Hi"));
    const { WebSocket } = await import("ws");
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    await new Promise((resolve) => socket.once("open", resolve));
    await expect.poll(async () => (await scrape(server)).get("antiphon_websockets_open")).toBe(1);
    socket.close();
    await expect.poll(async () => (await scrape(server)).get("antiphon_websockets_open")).toBe(0);
    expect((await scrape(server)).get("antiphon_websockets_opened_total")).toBe(1);
  });

  test("no client's text as a label, and no series that the table does not have", async () => {
    verifies("operations.metrics.bounded-labels");
    const { server, create } = await serveBehind(ANSWER);
    const before = (await scrape(server)).size;
    for (const name of ["alpha", "beta", "gamma"]) {
      await (await create({ model: `model-${name}`, user: name, metadata: { name } })).json();
      await server.fetch(`/v1/responses/resp_${name}`, { headers: { "x-client-request-id": `request-${name}` } });
      await server.fetch(`/${name}`, { method: "PATCH" });
    }
    const series = await scrape(server);
    for (const name of ["alpha", "beta", "gamma"]) expect([...series.keys()].join("\n")).not.toContain(name);
    const grown = series.size - before;
    for (let count = 0; count < 5; count++) await (await create({ model: `model-${count}` })).json();
    expect((await scrape(server)).size - before).toBe(grown);
    const byName = new Map<string, Metric>(Object.values<Metric>(METRICS).map((metric) => [metric.name, metric]));
    for (const key of series.keys()) {
      const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(key) ?? [];
      const metric = byName.get(name) ?? byName.get(name.replace(/_(bucket|sum|count)$/, ""));
      const names = [...labels.matchAll(/(\w+)="/g)].map((match) => match[1]).filter((label) => label !== "le");
      expect(names, key).toEqual(metric?.labels);
    }
  });
});

describe("the metrics endpoint", () => {
  async function statusOf(
    env: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
    host = "127.0.0.1",
  ): Promise<number> {
    const server = await startTestServer({ env: { HOST: "0.0.0.0", ...env } });
    const reply = await fetch(`http://${host}:${new URL(server.url).port}/metrics`, { headers });
    const text = await reply.text();
    expect(text.includes("antiphon_http_requests_total")).toBe(false); // There was no other request yet.
    expect(text.includes("antiphon_runs_queued")).toBe(reply.status === 200);
    return reply.status;
  }

  const elsewhere = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === "IPv4")?.address;

  test.each([
    ["a caller on this machine", {}, {}, 200],
    ["a caller through a proxy on this machine", {}, { "x-forwarded-for": "203.0.113.7" }, 403],
    ["a caller through a proxy that sends few headers", {}, { "x-forwarded-proto": "https" }, 403],
    ["anyone, if metrics are open", { METRICS: "open" }, { "x-forwarded-for": "203.0.113.7" }, 200],
    ["anyone, if metrics are off", { METRICS: "off" }, {}, 404],
    ["a caller without the key that is set", { METRICS_KEY: "the-key" }, {}, 401],
    ["a caller with another key", { METRICS_KEY: "the-key" }, { authorization: "Bearer another" }, 401],
    ["a caller with the key", { METRICS_KEY: "the-key" }, { authorization: "Bearer the-key", via: "1.1 p" }, 200],
    [
      "a caller with the key, if metrics are off",
      { METRICS: "off", METRICS_KEY: "k" },
      { authorization: "Bearer k" },
      404,
    ],
  ])("%s", async (_who, env, headers, status) => {
    verifies("operations.metrics.who-may-read");
    expect(await statusOf(env, headers)).toBe(status);
  });

  test.each([
    ["localhost:8080", 200],
    ["[::1]:8080", 200],
    ["rebound.example:8080", 403],
    ["127.0.0.1.rebound.example", 403],
  ])("a caller on this machine with the host name %s, as a browser's page may send, gets %d", async (host, status) => {
    verifies("operations.metrics.who-may-read");
    const server = await startTestServer();
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    get(`${server.url}/metrics`, { headers: { host } }, (reply) => resolve(reply.resume().statusCode)).on(
      "error",
      reject,
    );
    expect(await promise).toBe(status);
  });

  test.skipIf(elsewhere === undefined)("refuses callers from another address unless metrics are open", async () => {
    verifies("operations.metrics.who-may-read");
    expect(await statusOf({}, {}, elsewhere)).toBe(403);
    expect(await statusOf({ METRICS: "open" }, {}, elsewhere)).toBe(200);
  });
});

test("a model server that is down shows in /readyz without making it 503", async () => {
  verifies("operations.readiness.model-is-shown");
  const upstream = await serveChat((response) => response.writeHead(500).end());
  const server = await startTestServer({ env: { MODEL_BASE_URL: `${upstream.origin}/v1` } });
  const look = async (): Promise<{ status: number; checks: unknown }> => {
    const reply = await fetch(`${server.url}/readyz`);
    return { status: reply.status, checks: (await reply.json()).checks };
  };
  expect(await look()).toEqual({ status: 200, checks: { store: "ok", disk: "ok", server: "ok", model: "unknown" } });
  await expect
    .poll(look)
    .toEqual({ status: 200, checks: { store: "ok", disk: "ok", server: "ok", model: "unavailable" } });
});
