import { describe, expect, test } from "vitest";
import { type ChatServer, serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { chunks, delta, UPSTREAM_KEY, usageChunk } from "../responses/behind-upstream.ts";
import { PIXEL } from "../responses/media-samples.ts";
import { verifies } from "../verifies.ts";

const SAID = "the-question-about-mulberries";
const ANSWERED = "the-answer-about-mulberries";
const COLLECTOR_KEY = "collectors-own-key-0123456789";
const METRICS_KEY = "metrics-own-key-0123456789";

const ANSWER = chunks(
  delta({ reasoning_content: "the-thought-about-mulberries" }),
  delta({ content: ANSWERED }),
  { id: "chatcmpl-1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  usageChunk({ prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 }),
);

/** Answers normally, then with errors that repeat the request, then not at all. */
async function startEchoingModel(): Promise<{
  upstream: ChatServer;
  behave: (how: "answers" | "echoes" | "breaks") => void;
}> {
  let manner: "answers" | "echoes" | "breaks" = "answers";
  const upstream = await serveChat((response, call) => {
    if (manner === "answers") return ANSWER(response, call);
    if (manner === "breaks") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.write(`data: ${JSON.stringify({ error: { message: `I broke at ${call.body}` } })}\n\n`);
    }
    response.writeHead(500, { "content-type": "application/json" });
    return response.end(JSON.stringify({ error: { message: `${call.headers.authorization} sent ${call.body}` } }));
  });
  return { upstream, behave: (how) => (manner = how) };
}

async function startLogged(
  level: string,
): Promise<{ child: ChildServer; model: Awaited<ReturnType<typeof startEchoingModel>> }> {
  const model = await startEchoingModel();
  const child = await startChildServer({
    env: {
      LOG_LEVEL: level,
      MODEL_BASE_URL: `${model.upstream.origin}/v1`,
      MODEL_API_KEY: UPSTREAM_KEY,
      METRICS_KEY,
      OTEL_EXPORTER_OTLP_ENDPOINT: model.upstream.origin,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${COLLECTOR_KEY}`,
    },
  });
  return { child, model };
}

/** Sends requests with everything that must stay out of logs; returns the sealed content a client would carry. */
async function sendEverything({ child, model }: Awaited<ReturnType<typeof startLogged>>): Promise<string> {
  const image = { type: "input_image", image_url: PIXEL };
  const input = [{ role: "user", content: [{ type: "input_text", text: SAID }, image] }];
  const sealing = { store: false, include: ["reasoning.encrypted_content"] };
  const first = await (await child.post("/v1/responses", { model: "m", input: SAID, ...sealing })).json();
  const reasoning = first.output.find((item: { type: string }) => item.type === "reasoning");
  expect(reasoning.encrypted_content.length).toBeGreaterThan(50);
  for (const manner of ["answers", "echoes", "breaks"] as const) {
    model.behave(manner);
    for (const stream of [true, false]) await (await child.post("/v1/responses", { model: "m", input, stream })).text();
    await (await child.post("/v1/responses", { model: "m", input: [reasoning, ...input], ...sealing })).text();
    await (await child.post("/v1/responses", { model: "m", input, background: true })).text();
    await (
      await child.post("/v1/responses", { model: "m", input }, { authorization: "Bearer sk-somebody-elses-0123456789" })
    ).text();
  }
  await (
    await child.post("/v1/responses", {
      model: "m",
      input: [{ ...reasoning, encrypted_content: `x${reasoning.encrypted_content}` }],
      ...sealing,
    })
  ).text();
  await (await child.fetch(`/v1/responses/resp_none?include=${SAID}`)).text();
  await (await child.fetch("/v1/responses", { method: "POST", body: `{"${SAID}` })).text();
  await (await child.fetch("/metrics", { headers: { authorization: `Bearer ${METRICS_KEY}` } })).text();
  return reasoning.encrypted_content;
}

describe("the log", () => {
  test("holds no keys, inlined images or sealed content at any level, even if the model server repeats them", async () => {
    verifies("operations.log.no-secrets");
    const logged = await startLogged("trace");
    const sealed = await sendEverything(logged);
    const toldAt = performance.now();
    expect(await logged.child.stop()).toBe(0);
    // The exporter alone would wait for the silent collector for 30 s.
    expect(performance.now() - toldAt).toBeLessThan(20_000);
    const said = logged.child.said();
    expect(logged.child.lines().length).toBeGreaterThan(20);
    expect(said).toContain("The model server failed with status 500");
    const secrets = {
      CALLER_KEY: logged.child.apiKey,
      UPSTREAM_KEY,
      COLLECTOR_KEY,
      METRICS_KEY,
      sealed,
      image: PIXEL.slice(PIXEL.indexOf(",") + 1),
    };
    for (const [name, secret] of Object.entries(secrets)) {
      expect(said.includes(secret), name).toBe(false);
      expect(said.includes(secret.slice(0, 40)), `${name}, the beginning of it`).toBe(false);
    }
    for (const word of ["sk-somebody", "Bearer", "data:image", "encrypted_content"])
      expect(said.includes(word), word).toBe(false);
  });

  test("holds no content at level info", async () => {
    verifies("operations.log.no-content", "transport.log.request-line-without-content");
    const logged = await startLogged("info");
    await sendEverything(logged);
    await logged.child.stop();
    expect(logged.child.lines().length).toBeGreaterThan(20);
    expect(logged.child.said()).not.toContain("mulberries");
  });

  test("shows who sent each request and its outcome, and the figures of each run", async () => {
    verifies("operations.log.request-line-names-the-caller");
    verifies("operations.log.run-lines");
    verifies("operations.log.one-line-a-request");
    const { child, model } = await startLogged("info");
    const reply = await child.post("/v1/responses", { model: "m", input: "Hi" }, { "x-client-request-id": "mine-1" });
    const { id } = await reply.json();
    const requestId = reply.headers.get("x-request-id");
    await child.fetch("/healthz");
    await child.fetch("/readyz");
    for (const page of ["/", "/docs", "/inspector"]) await (await child.fetch(page)).text();
    await (await child.fetch("/v1/responses?limit=5")).text();
    const streamed = await child.post("/v1/responses", { model: "m", input: "Hi", stream: true });
    await streamed.text();
    model.behave("echoes");
    const failed = await child.post("/v1/responses", { model: "m", input: "Hi" });
    await failed.text();
    const inBackground = await child.post("/v1/responses", { model: "m", input: "Hi", background: true });
    await inBackground.text();
    await child.stop();
    const lines = child.lines();
    const linesOf = (one: Response) => lines.filter((line) => line["requestId"] === one.headers.get("x-request-id"));
    expect(linesOf(reply)).toHaveLength(1);
    expect(linesOf(reply)[0]).toMatchObject({
      level: 30,
      msg: "request",
      requestId,
      responseId: id,
      model: "m",
      outcome: "completed",
      firstEventMs: expect.any(Number),
      inputTokens: 21,
      outputTokens: 8,
      method: "POST",
      path: "/v1/responses",
      operationId: "createResponse",
      status: 200,
      complete: true,
      ms: expect.any(Number),
      clientRequestId: "mine-1",
      keyId: expect.stringMatching(/^configured_/),
      organization: "acme",
      project: "web",
    });
    const run = { model: "m", firstEventMs: expect.any(Number), outcome: "completed", inputTokens: 21 };
    expect(linesOf(streamed)).toMatchObject([{ msg: "request", status: 200, ...run }]);
    const failure = { msg: "request", level: 40, status: 500, reason: "failed" };
    expect(linesOf(failed)).toMatchObject([{ ...failure, err: { message: expect.stringMatching(/status 500/) } }]);
    expect(JSON.stringify(linesOf(failed))).not.toContain('"stack"');
    expect(linesOf(inBackground).map(({ msg }) => msg)).toEqual(expect.arrayContaining(["run began", "request"]));
    const quiet = new Set(["/healthz", "/readyz", "/", "/docs", "/inspector"]);
    expect(lines.filter(({ path, method }) => quiet.has(String(path)) || method === "GET")).toEqual([]);
  });
});
