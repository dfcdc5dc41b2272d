import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL } from "./check-refusal.ts";
import { eventsOf, type ReadStream, readStream } from "./read-stream.ts";

const cite = (index: number): object => ({
  type: "url_citation",
  start_index: index,
  end_index: index + 1,
  url: "https://example.com/a",
  title: "A",
});

const SCENES: Readonly<Record<string, readonly object[]>> = {
  phases: [
    { message: { phase: "commentary" } },
    { text: "Looking." },
    { message: { phase: "final_answer" } },
    { text: "Found." },
  ],
  refusal: [{ refusal: "I cannot help with that." }],
  annotations: [{ text: "one" }, { annotation: cite(0) }, { text: "two" }, { annotation: cite(4) }],
  summary: [{ reasoning_summary: ["First", "Second"] }, { text: "So." }],
  calls: [{ call: { name: "f", call_id: "call_1", arguments: { a: 1 } } }, { call: { name: "f", arguments: {} } }],
  custom: [{ custom_call: { name: "c", input: "print(1)" } }],
  cut: [{ text: "Only so" }, { usage: { input_tokens: 5, output_tokens: 2 } }, { finish: "length" }],
  filtered: [{ text: "Only so" }, { finish: "content_filter" }],
  broken: [
    { text: "Only so" },
    { error: { status: 500, type: "server_error", code: "server_error", message: "It broke." } },
  ],
  limited: [
    { error: { status: 429, type: "tokens", code: "rate_limit_exceeded", message: "Please try again in 1.2s." } },
  ],
  early: [
    {
      refuse_turn: {
        status: 429,
        type: "tokens",
        code: "rate_limit_exceeded",
        message: "Slow down.",
        retry_after_seconds: 2,
      },
    },
  ],
};
const SCENARIO = JSON.stringify({
  scenarios: Object.entries(SCENES).map(([name, events]) => ({ when: { input_contains: name }, events })),
});
const TOOLS = [
  { type: "function", name: "f", strict: false, parameters: {} },
  { type: "custom", name: "c" },
];

describe("a stream carries", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  const ask = (input: string, members: object = {}): Promise<Response> =>
    server.post("/v1/responses", { model: MODEL, input, tools: TOOLS, ...members });
  const stream = async (input: string, members: object = {}): Promise<ReadStream> =>
    readStream(await ask(input, { stream: true, ...members }));

  test("the phase of a message from its beginning to its end", async () => {
    const read = await stream("phases");
    const phases = [{ phase: "commentary" }, { phase: "final_answer" }];
    expect(eventsOf(read, "response.output_item.added").map(({ item }) => item)).toMatchObject(phases);
    expect(eventsOf(read, "response.output_item.done").map(({ item }) => item)).toMatchObject(phases);
  });

  test("a message that is empty at first and complete at the end", async () => {
    const read = await stream("refusal");
    expect(eventsOf(read, "response.output_item.added")).toMatchObject([
      { item: { status: "in_progress", content: [] } },
    ]);
    expect(eventsOf(read, "response.content_part.added")).toMatchObject([{ part: { type: "refusal", refusal: "" } }]);
    const content = [{ type: "refusal", refusal: "I cannot help with that." }];
    expect(read.final.output).toMatchObject([{ type: "message", status: "completed", role: "assistant", content }]);
  });

  test("annotations numbered from 0 in each part and kept in the done part", async () => {
    const read = await stream("annotations");
    const events = eventsOf(read, "response.output_text.annotation.added");
    expect(events.map((event) => event.annotation_index)).toEqual([0, 1]);
    expect(events.map((event) => event.annotation)).toEqual([cite(0), cite(4)]);
    expect(read.final.output).toMatchObject([
      { content: [{ text: "onetwo", annotations: [cite(0), cite(4)], logprobs: [] }] },
    ]);
  });

  test("summary parts by index, and reasoning items without a status", async () => {
    verifies("response.body.reasoning-items-without-status");
    const read = await stream("summary", { reasoning: { summary: "auto" } });
    expect(eventsOf(read, "response.reasoning_summary_part.added").map((event) => event.summary_index)).toEqual([0, 1]);
    expect(eventsOf(read, "response.reasoning_summary_part.done").map(({ part }) => part)).toEqual([
      { type: "summary_text", text: "First" },
      { type: "summary_text", text: "Second" },
    ]);
    const { id, ...reasoning } = { id: "", ...read.final.output[0] };
    expect(id).toMatch(/^rs_/);
    expect(reasoning).toEqual({
      type: "reasoning",
      content: [],
      encrypted_content: expect.stringMatching(/^.+$/),
      summary: ["First", "Second"].map((text) => ({ type: "summary_text", text })),
    });
  });

  test.each([
    ["default", {}],
    ["request", { store: false, include: ["reasoning.encrypted_content"] }],
  ])("encrypted reasoning by %s", async (_title, members) => {
    verifies("create.include.encrypted-reasoning");
    const read = await stream("summary", members);
    expect(read.final.output[0]).toMatchObject({
      type: "reasoning",
      encrypted_content: expect.stringMatching(/^.+$/),
    });
    const added = eventsOf(read, "response.output_item.added")[0];
    expect(added?.item).toHaveProperty("encrypted_content");
  });

  test("calls with their own ids and with arguments that are empty at first", async () => {
    verifies("tools.function.call-completes-response", "response.ids.prefixes");
    const read = await stream("calls");
    const added = eventsOf(read, "response.output_item.added").map(({ item }) => item);
    expect(added).toMatchObject([
      { type: "function_call", arguments: "", call_id: "call_1", name: "f", status: "in_progress" },
      { type: "function_call", arguments: "", name: "f", status: "in_progress" },
    ]);
    expect(read.final).toMatchObject({
      status: "completed",
      output: [
        { id: expect.stringMatching(/^fc_/), arguments: '{"a":1}', status: "completed" },
        { call_id: expect.stringMatching(/^call_[0-9A-Za-z]{24}$/), arguments: "{}", status: "completed" },
      ],
    });
  });

  test("the free text of a custom tool", async () => {
    verifies("tools.custom.input-is-free-text");
    const read = await stream("custom");
    expect(read.final.output).toMatchObject([
      {
        id: expect.stringMatching(/^ctc_/),
        type: "custom_tool_call",
        call_id: expect.stringMatching(/^call_/),
        name: "c",
        input: "print(1)",
      },
    ]);
  });

  test.each([
    ["cut", "max_output_tokens"],
    ["filtered", "content_filter"],
  ])("the text so far and the reason where an answer is %s", async (input, reason) => {
    verifies(
      "responses.stream.incomplete-ends-in-incomplete",
      "create.limits.max-output-tokens-cuts",
      "response.body.completed-at-only-when-completed",
    );
    const { final } = await stream(input);
    expect(final).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason },
      completed_at: null,
      error: null,
    });
    expect(final.output).toMatchObject([{ status: "incomplete", content: [{ text: "Only so" }] }]);
    expect(final.usage).not.toBeNull();
  });

  test("a failure as a nested error and then as response.failed", async () => {
    verifies(
      "responses.stream.error-event-is-nested",
      "response.body.error-has-two-keys",
      "response.body.usage-null-until-terminal",
    );
    const read = await stream("broken");
    const error = { type: "server_error", code: "server_error", message: "It broke.", param: null };
    const [event] = eventsOf(read, "error");
    expect(event).toEqual({ type: "error", sequence_number: event?.sequence_number, error });
    expect(read.final).toMatchObject({ status: "failed", usage: null, completed_at: null, service_tier: "auto" });
    expect(read.final.error).toEqual({ code: "server_error", message: "It broke." });
  });

  test("a rate limit of the model as the code that clients check for", async () => {
    verifies("errors.ratelimit.in-stream-code");
    expect((await stream("limited")).final.error).toEqual({
      code: "rate_limit_exceeded",
      message: "Please try again in 1.2s.",
    });
  });

  test("nothing if the model refuses before it starts: that is plain HTTP", async () => {
    const reply = await ask("early", { stream: true });
    expect(reply.status).toBe(429);
    expect(reply.headers.get("retry-after")).toBe("2");
    expect(await reply.json()).toEqual({
      error: { message: "Slow down.", type: "tokens", param: null, code: "rate_limit_exceeded" },
    });
  });

  test("as many tokens as max_output_tokens allows", async () => {
    const { final } = await stream("Write 200 words", { max_output_tokens: 16 });
    const incomplete_details = { reason: "max_output_tokens" };
    expect(final).toMatchObject({ status: "incomplete", incomplete_details, usage: { output_tokens: 16 } });
  });
});
