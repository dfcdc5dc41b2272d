import { describe, expect, onTestFinished, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startChildServer } from "../kit/child-server.ts";
import { cpuMsOf } from "../kit/cpu-time.ts";
import { memoryOf } from "../kit/processes.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { readSnapshot, readStream, type StreamEvent } from "./event-stream.ts";
import { flood } from "./model-deaths.ts";
import { type ModelServer, serveBytes } from "./model-server.ts";

const MEBIBYTE = 1024 * 1024;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
/** The most that one delta event of ours holds. */
const DELTA_CHARACTERS_MAX = 64 * 1024;
const CREATE = {
  model: "m",
  input: "Go on",
  top_logprobs: 1,
  include: ["message.output_text.logprobs"],
  tools: [{ type: "function", name: "f", parameters: null, strict: false }],
};

const says = (delta: object, rest: object = {}): string =>
  sse({ id: "chatcmpl-1", model: "m", choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
const calls = (call: object): string => says({ tool_calls: [call] });
const STOP = sse({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]");

const WORDS = "some words ".repeat(100);
const BEGUN_CALL = calls({ index: 0, id: "c", function: { name: "f", arguments: '{"a":"' } });
const LOGPROB = { token: "a", logprob: -1, top_logprobs: [{ token: "a", logprob: -1 }] };
const CITATION = { type: "url_citation", url_citation: { url: "https://a.test", start_index: 0, end_index: 1 } };

/** Endless answers: the start, the part that repeats, and the limits for the test. */
const ENDLESS: Readonly<
  Record<string, readonly [first: string, again: string, limits: Readonly<Record<string, string>>]>
> = {
  text: ["", says({ content: WORDS }), {}],
  "a text of small tokens": ["", says({ content: "a" }), { ANSWER_TEXT_CHARACTERS_MAX: "20000" }],
  refusals: ["", says({ refusal: WORDS }), {}],
  reasoning: ["", says({ reasoning_content: WORDS }), {}],
  "reasoning in tags": [says({ content: "<think>" }), says({ content: WORDS }), {}],
  summaries: ["", says({ reasoning_details: [{ type: "reasoning.summary", summary: WORDS }] }), {}],
  arguments: [BEGUN_CALL, calls({ index: 0, function: { arguments: WORDS } }), {}],
  calls: [
    "",
    calls({ function: { name: "f", arguments: '{"a":1}' } }) + calls({ function: { name: "g", arguments: "{}" } }),
    {},
  ],
  "items of two kinds": ["", says({ content: "a" }) + says({ reasoning_content: "b" }), {}],
  "parts of two kinds": ["", says({ content: "a" }) + says({ refusal: "b" }), {}],
  annotations: [says({ content: "a" }), says({ annotations: [CITATION] }), {}],
  "log probabilities": [
    "",
    says({ content: "a" }, { logprobs: { content: Array.from({ length: 50 }, () => LOGPROB) } }),
    { ANSWER_LOGPROBS_MAX: "20000" },
  ],
};

describe("a model server whose answer never ends", () => {
  test.each(Object.entries(ENDLESS))(
    "with %s is left at a limit, and the answer is incomplete",
    async (_title, [first, again, limits]) => {
      verifies("runs.answer.limits", "responses.stream.one-terminal-event-last");
      const model = await modelServer((socket) => void flood(socket, HEAD + first, again));
      const server = await serverBefore(model.url, limits);
      const last = (await streamOf(server)).at(-1);
      expect(last).toMatchObject({
        type: "response.incomplete",
        response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, error: null },
      });
      await expect.poll(() => model.connections.size, { interval: 10 }).toBe(0);
      const snapshot = readSnapshot(last?.["response"]);
      for (const item of snapshot.output) expect(item.status ?? "completed").not.toBe("in_progress");
      expect(await (await server.fetch(`/v1/responses/${snapshot.id}`)).json()).toMatchObject({ status: "incomplete" });
    },
  );

  test("uses little memory of a small process, even several at once", async () => {
    verifies("runs.answer.limits");
    const model = await modelServer((socket, call) => {
      const again = call.includes('"m-thinks"') ? says({ reasoning_content: WORDS }) : says({ content: WORDS });
      void flood(socket, HEAD, again);
    });
    const server = await startChildServer({ env: { MODEL_BASE_URL: model.url }, flags: ["--max-old-space-size=256"] });
    const models = ["m", "m-thinks", "m", "m-thinks"];
    const ended = await Promise.all(
      models.map(async (name) =>
        readSnapshot(await (await server.post("/v1/responses", { model: name, input: "x" })).json()),
      ),
    );
    for (const { status } of ended) expect(status).toBe("incomplete");
    expect((await server.fetch("/healthz")).status).toBe(200);
    expect((await memoryOf(server.pid)).peakBytes).toBeLessThan(700 * MEBIBYTE);
  });
});

describe("a very long delta of a model server", () => {
  const LONG: Readonly<Record<string, (text: string) => string>> = {
    text: (text) => says({ content: text }),
    reasoning: (text) => says({ reasoning_content: text }),
    arguments: (text) => calls({ index: 0, id: "c", function: { name: "f", arguments: text } }),
  };

  test.each(Object.entries(LONG))("becomes many events that together hold all of its %s", async (_title, say) => {
    verifies("runs.answer.long-deltas-in-pieces");
    const text = `{"a":"${"some words ".repeat(150_000)}"}`;
    const model = await modelServer((socket) => socket.end(HEAD + say(text) + STOP));
    const deltas = deltasOf(await streamOf(await serverBefore(model.url)));
    expect(deltas.join("")).toBe(text);
    for (const delta of deltas) expect(delta.length).toBeLessThanOrEqual(DELTA_CHARACTERS_MAX);
  });

  test.each(Object.entries(LONG))("of 12 MB is cut at the limit of its %s", async (_title, say) => {
    verifies("runs.answer.limits");
    const model = await modelServer((socket) => socket.end(HEAD + say("x".repeat(12_000_000)) + STOP));
    const events = await streamOf(await serverBefore(model.url));
    expect(events.at(-1)?.type).toBe("response.incomplete");
    expect(deltasOf(events).join("").length).toBe(2 * MEBIBYTE);
  });

  test("takes time proportional to its length", async () => {
    verifies("runs.answer.long-deltas-in-pieces");
    const model = await modelServer((socket, call) => {
      const length = Number(/"model":"(\d+)"/.exec(call)?.[1]);
      socket.end(HEAD + says({ content: "x".repeat(length) }) + STOP);
    });
    const server = await serverBefore(model.url, { ANSWER_TEXT_CHARACTERS_MAX: String(5 * MEBIBYTE) });
    const cpuMs = async (length: number): Promise<number> =>
      (await cpuMsOf(async () => (await server.post("/v1/responses", { ...CREATE, model: String(length) })).text())).ms;
    await cpuMs(MEBIBYTE);
    const [short, long] = [await cpuMs(MEBIBYTE), await cpuMs(4 * MEBIBYTE)];
    expect(long).toBeLessThan(12 * short);
  });
});

/** Ends with the test. */
async function modelServer(answer: Parameters<typeof serveBytes>[0]): Promise<ModelServer> {
  const model = await serveBytes(answer);
  onTestFinished(() => model.close());
  return model;
}

async function serverBefore(url: string, limits: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env: { MODEL_BASE_URL: url, ...limits } });
}

async function streamOf(server: TestServer): Promise<readonly StreamEvent[]> {
  return readStream(await (await server.post("/v1/responses", { ...CREATE, stream: true })).text());
}

function deltasOf(events: readonly StreamEvent[]): readonly string[] {
  return events.filter(({ type }) => type.endsWith(".delta")).map((event) => String(event["delta"]));
}
