import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL } from "./check-refusal.ts";
import { eventsOf, type ReadStream, readStream } from "./read-stream.ts";

const SCENARIO = JSON.stringify({
  scenarios: [
    {
      when: { input_contains: "everything" },
      events: [
        { reasoning_summary: ["A first part, rather long", "Second"] },
        {
          text: {
            chunks: ["é", "日本語", "🙂", "fifteen letters", "sixteen letters.", "seventeen letters", " line\nbreak "],
          },
        },
        { refusal: { chunks: ["I would", " rather not"] } },
        { call: { name: "f", arguments: { text: "0123456789abcdefghijklmnopqrstuvwxyz" }, chunks: 3 } },
        { custom_call: { name: "c", input: "free text", chunks: 2 } },
      ],
    },
    { when: { input_contains: "thought" }, events: [{ reasoning: { chunks: ["Hm", "m"] } }, { text: "Yes." }] },
  ],
});

const TOOLS = [
  { type: "function", name: "f", strict: false, parameters: {} },
  { type: "custom", name: "c" },
];
/** The deltas that the reference pads. */
const PADDED = new Set(
  ["output_text", "refusal", "reasoning_summary_text", "function_call_arguments"].map(
    (family) => `response.${family}.delta`,
  ),
);

describe("a stream", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  const ask = (input: string, members: object = {}): Promise<Response> =>
    server.post("/v1/responses", { model: MODEL, input, stream: true, tools: TOOLS, ...members });

  const check = async (input: string, members: object, isPadded: boolean): Promise<ReadStream> => {
    const stream = await readStream(await ask(input, members));
    for (const event of stream.events) {
      const padding = "obfuscation" in event ? event.obfuscation : undefined;
      if (!isPadded || !PADDED.has(event.type) || !("delta" in event) || typeof event.delta !== "string") {
        expect(padding, event.type).toBeUndefined();
        continue;
      }
      expect(padding, event.delta).toHaveLength((16 - ([...event.delta].length % 16)) % 16);
      expect(padding).toMatch(/^[A-Za-z0-9]*$/);
    }
    return stream;
  };

  test("consists of frames of one event line, one data line and a blank line", async () => {
    verifies("responses.stream.framing", "responses.stream.no-done-marker", "http.bodies.json-is-valid-utf8");
    const { text } = await readStream(await ask("everything"));
    expect(text).not.toMatch(/\r|\uFEFF|\[DONE\]|^(id|retry|:)/m);
    expect(text.endsWith("\n\n")).toBe(true);
    for (const frame of text.slice(0, -2).split("\n\n")) {
      const [name, data = "", ...rest] = frame.split("\n");
      expect(rest).toEqual([]);
      expect(data).toMatch(/^data: \{"type":"[^"]+",/);
      expect(name).toBe(`event: ${JSON.parse(data.slice("data: ".length)).type}`);
      expect(data).not.toMatch(/\\u(?!00[01])/);
    }
    expect(text).toContain('"delta":"日本語"');
  });

  test("has its content type and rate-limit headers", async () => {
    verifies(
      "responses.stream.content-type",
      "http.headers.ratelimit-on-every-create",
      "http.headers.version-and-processing-time",
    );
    const reply = await ask("thought");
    expect(reply.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(reply.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
    expect(reply.headers.get("openai-version")).toBe("2020-10-01");
    expect(reply.headers.get("openai-processing-ms")).toMatch(/^\d+$/);
    expect([...reply.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toHaveLength(6);
    await reply.text();
  });

  test("is chosen by the body, never by Accept", async () => {
    verifies("http.headers.accept-never-selects-streaming", "create.stream.off-by-default");
    const body = JSON.stringify({ model: MODEL, input: "Hi" });
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const reply = await server.fetch("/v1/responses", { method: "POST", headers, body });
    expect(reply.headers.get("content-type")).toBe("application/json");
  });

  test("pads the same deltas as the reference to a multiple of sixteen characters", async () => {
    verifies("responses.stream.obfuscation-length");
    const stream = await check("everything", {}, true);
    expect(new Set(stream.events.flatMap((event) => ("obfuscation" in event ? [event.type] : [])))).toEqual(PADDED);
    await check("thought", {}, true);
    await check("everything", { stream_options: { include_obfuscation: true } }, true);
  });

  test("has no padding for clients that opt out", async () => {
    verifies("responses.stream.obfuscation-can-be-off");
    await check("everything", { stream_options: { include_obfuscation: false } }, false);
  });

  test("has log probabilities in deltas and done texts, but not in the done part, and only if requested", async () => {
    verifies("create.include.logprobs");
    const members = { include: ["message.output_text.logprobs"], top_logprobs: 2 };
    const stream = await readStream(await ask("Say one two", members));
    const deltas = eventsOf(stream, "response.output_text.delta").flatMap(({ logprobs }) => logprobs ?? []);
    expect(deltas.length).toBeGreaterThan(1);
    for (const entry of deltas) expect(entry.top_logprobs).toHaveLength(2);
    expect(eventsOf(stream, "response.output_text.done").map(({ logprobs }) => logprobs)).toEqual([deltas]);
    expect(eventsOf(stream, "response.content_part.done")).toMatchObject([{ part: { logprobs: [] } }]);
    expect(stream.final.output).toMatchObject([{ content: [{ logprobs: deltas.map(({ token }) => ({ token })) }] }]);
    const unasked = await readStream(await ask("Say one two", { top_logprobs: 2 }));
    for (const { logprobs } of eventsOf(unasked, "response.output_text.delta")) expect(logprobs).toEqual([]);
  });
});
