import { expect, onTestFinished, test } from "vitest";
import { type ChatServer, serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { type Answer, chunks, delta, says, usageChunk } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { type CollectedSpan, type Collector, startCollector } from "./collector.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;

const ANSWER = chunks(
  { ...Object(delta({ content: "the secret answer" })), id: "chatcmpl-77", model: "m-2026" },
  { id: "chatcmpl-77", choices: [{ index: 0, delta: {}, finish_reason: "length" }] },
  usageChunk({
    prompt_tokens: 21,
    completion_tokens: 8,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }),
);

interface Traced {
  readonly server: TestServer;
  readonly upstream: ChatServer;
  readonly collector: Collector;
  create(members?: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Stops the server, which sends its remaining spans, and returns every span by its name. */
  finish(): Promise<ReadonlyMap<string, CollectedSpan>>;
}

async function startTraced(answer: Answer, env: Readonly<Record<string, string>> = {}, status = 200): Promise<Traced> {
  const upstream = await serveChat(answer);
  const collector = await startCollector(status);
  const server = await startTestServer({
    env: {
      MODEL_BASE_URL: `${upstream.origin}/v1`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_EXPORTER_OTLP_HEADERS: "x-collector=let%20me%20in",
      OTEL_SERVICE_NAME: "tested",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
      ...env,
    },
  });
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => (closed ??= server.close());
  onTestFinished(close);
  const body = (members: object): string => JSON.stringify({ model: "m", input: "the secret question", ...members });
  return {
    server,
    upstream,
    collector,
    create: (members = {}, headers = {}) =>
      server.fetch("/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: body(members),
      }),
    finish: async () => {
      await close();
      return new Map(collector.spans.map((span) => [span.name, span]));
    },
  };
}

test("a response has spans for its request, its run and its model call, in its caller's trace and named by the conventions", async () => {
  verifies("operations.traces.genai-spans");
  verifies("operations.traces.context-is-passed-on");
  const traced = await startTraced(ANSWER);
  const reply = await traced.create(
    { temperature: 0.5, max_output_tokens: 100 },
    { traceparent: TRACEPARENT, tracestate: "vendor=1" },
  );
  const { id } = await reply.json();
  const spans = await traced.finish();
  const [request, run, chat] = ["POST /v1/responses", "run", "chat m"].map((name) => spans.get(name));
  expect(traced.collector.headers[0]).toMatchObject({ path: "/v1/traces", "x-collector": "let me in" });
  expect(request).toMatchObject({
    kind: 2,
    traceId: TRACE_ID,
    parentSpanId: PARENT_ID,
    attributes: {
      "http.request.method": "POST",
      "http.route": "/v1/responses",
      "http.response.status_code": 200,
      "antiphon.operation": "createResponse",
    },
    resource: { "service.name": "tested", "deployment.environment": "test" },
  });
  expect(run).toMatchObject({
    kind: 1,
    traceId: TRACE_ID,
    parentSpanId: request?.spanId,
    attributes: { "antiphon.response.id": id, "antiphon.response.status": "incomplete" },
  });
  expect(chat).toMatchObject({
    kind: 3,
    traceId: TRACE_ID,
    parentSpanId: run?.spanId,
    events: ["first_chunk"],
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai_compatible",
      "gen_ai.request.model": "m",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.max_tokens": 100,
      "gen_ai.response.model": "m-2026",
      "gen_ai.response.id": "chatcmpl-77",
      "gen_ai.response.finish_reasons": ["length"],
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
      "gen_ai.usage.input_tokens": 21,
      "gen_ai.usage.output_tokens": 8,
      "gen_ai.usage.cache_read.input_tokens": 5,
      "gen_ai.usage.reasoning.output_tokens": 3,
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(traced.upstream.origin).port),
    },
  });
  expect(chat?.attributes).not.toHaveProperty("error.type");
  expect(traced.upstream.calls[0]?.headers).toMatchObject({
    traceparent: `00-${TRACE_ID}-${chat?.spanId}-01`,
    tracestate: "vendor=1",
  });
});

test("a background response has a span for its wait, and all its spans are in the trace of its request", async () => {
  verifies("operations.traces.genai-spans");
  const traced = await startTraced(ANSWER);
  const { id } = await (await traced.create({ background: true }, { traceparent: TRACEPARENT })).json();
  await expect
    .poll(async () => (await (await traced.server.fetch(`/v1/responses/${id}`)).json()).status)
    .toBe("incomplete");
  const spans = await traced.finish();
  const run = spans.get("run");
  expect(run?.attributes).toMatchObject({ "antiphon.background": true, "antiphon.response.status": "incomplete" });
  for (const name of ["queue", "chat m"])
    expect(spans.get(name)).toMatchObject({ traceId: TRACE_ID, parentSpanId: run?.spanId });
  expect(spans.get("GET /v1/responses/{response_id}")?.traceId).not.toBe(TRACE_ID);
});

test("a server that recovers a response continues the trace of the request that created it", async () => {
  verifies("operations.traces.context-is-passed-on");
  const folder = temporaryFolder();
  let isSilent = true;
  const answer: Answer = (response, call) => (isSilent ? null : ANSWER(response, call));
  const env = { DATA_DIR: folder, DRAIN_MS: "100", API_KEYS: "sk-traces-0123456789" };
  const first = await startTraced(answer, env);
  const { id } = await (await first.create({ background: true }, { traceparent: TRACEPARENT })).json();
  await expect.poll(() => first.upstream.calls.length).toBe(1);
  const left = (await first.finish()).get("run");
  isSilent = false;
  const second = await startTraced(answer, env);
  await expect
    .poll(async () => (await (await second.server.fetch(`/v1/responses/${id}`)).json()).status)
    .toBe("incomplete");
  const spans = await second.finish();
  expect(spans.get("run")).toMatchObject({ traceId: TRACE_ID, parentSpanId: left?.parentSpanId });
  expect(spans.get("chat m")?.traceId).toBe(TRACE_ID);
  expect(left).toMatchObject({ traceId: TRACE_ID, attributes: { "antiphon.response.id": id } });
});

test("the model span shows if the model server refuses or breaks off, or if the client leaves", async () => {
  verifies("operations.traces.errors-are-typed");
  const answers: Answer[] = [
    (response) => response.writeHead(429).end("{}"),
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(delta({ content: "half" }))}\n\n`, () => response.destroy());
    },
  ];
  for (const [answer, reason] of [
    [answers[0], "rate_limit"],
    [answers[1], "unreachable"],
  ] as const) {
    const traced = await startTraced(answer ?? ANSWER);
    await (await traced.create({ stream: true })).text();
    const spans = await traced.finish();
    for (const name of ["chat m", "run"])
      expect(spans.get(name)).toMatchObject({ status: 2, attributes: { "error.type": reason } });
  }
});

test("no span holds content", async () => {
  verifies("operations.traces.no-content");
  const traced = await startTraced(ANSWER);
  const members = { instructions: "the secret manner", metadata: { note: "the secret note" }, user: "the secret user" };
  await (await traced.create({ ...members, stream: true })).text();
  await traced.server.fetch("/v1/responses/resp_unknown?secret=query");
  await traced.finish();
  const sent = traced.collector.texts.join("\n");
  expect(sent).toContain("chat m");
  expect(sent).not.toContain("secret");
  expect(sent).not.toContain(traced.server.apiKey);
});

test("a sampler that keeps nothing sends nothing, and a parent-based sampler follows the caller's choice", async () => {
  verifies("operations.traces.sampled");
  const traced = await startTraced(says("Hi"), {
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0",
  });
  await (await traced.create()).json();
  await (await traced.create({}, { traceparent: TRACEPARENT.replace(/1$/, "0") })).json();
  expect(traced.upstream.calls[1]?.headers["traceparent"]).toMatch(new RegExp(`^00-${TRACE_ID}-.*-00$`));
  await (await traced.create({}, { traceparent: TRACEPARENT })).json();
  await traced.finish();
  expect(new Set(traced.collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
});

test("a failing or missing collector harms no request, and the server stops in time", async () => {
  verifies("operations.traces.collector-is-not-waited-for");
  for (const env of [{}, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:9/v1/traces" }]) {
    const traced = await startTraced(says("Hi"), env, 500);
    expect((await traced.create()).status).toBe(200);
    const startedAt = performance.now();
    await traced.finish();
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  }
});

test("without a collector a well-formed trace context is passed on unchanged, and any other is ignored", async () => {
  verifies("operations.traces.off-by-default");
  const upstream = await serveChat(says("Hi"));
  const server = await startTestServer({ env: { MODEL_BASE_URL: `${upstream.origin}/v1` } });
  const create = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "m", input: "Hi" }),
    });
  await create({ traceparent: TRACEPARENT });
  await create({ traceparent: "hello" });
  await create({});
  expect(upstream.calls.map(({ headers }) => headers["traceparent"])).toEqual([TRACEPARENT, undefined, undefined]);
});
