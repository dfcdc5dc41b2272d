import { createOpenAI, type OpenAILanguageModelResponsesOptions } from "@ai-sdk/openai";
import { APICallError, generateText, isStepCount, type ModelMessage, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";

/** The provider knows `gpt-5-mini` as a reasoning model by its name. */
const SCENARIO = `
models: [gpt-5-mini]
scenarios:
  - when: { input_contains: and then the sea, tool_outputs: 2 }
    events: [{ text: Warm air and warm water. }]
  - when: { input_contains: and then the sea, tool_outputs: 1 }
    events:
      - reasoning_summary: ["**The sea next**"]
      - call: { name: get_sea, call_id: call_sea, arguments: { coast: Nice } }
  - when: { input_contains: and then the sea }
    events:
      - reasoning_summary: ["**The air first**"]
      - message: { phase: commentary }
      - text: I will look at both.
      - call: { name: get_weather, call_id: call_air, arguments: { city: Nice } }
  - when: { input_contains: both cities, has_tool_output: false }
    events:
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris } }
      - call: { name: get_weather, call_id: call_2, arguments: { city: Rome } }
  - when: { input_contains: think }
    events: [{ reasoning_summary: ["**One**", "**Two**"] }, { text: I thought. }]
  - when: { input_contains: cited }
    events:
      - text: See the page.
      - annotation: { type: url_citation, start_index: 4, end_index: 12, url: "https://example.com", title: Page }
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: filtered }
    events: [{ text: This is }, { finish: content_filter }]
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
  - when: { input_contains: busy }
    events:
      - refuse_turn: { status: 429, type: rate_limit_error, code: rate_limit_exceeded, message: Slow down. }
`;

interface SentBody {
  readonly input: readonly Readonly<Record<string, unknown>>[];
  readonly include?: readonly string[];
}

let server: TestServer;
let provider: ReturnType<typeof createOpenAI>;
/** The bodies that the client sent, in order. */
let sent: SentBody[];
beforeAll(async () => {
  server = await startTestServer({ scenario: SCENARIO });
  provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, fetch: recordingFetch });
});
beforeEach(() => {
  sent = [];
});
afterAll(() => server.close());

const tools = {
  get_weather: tool({
    description: "Tells the weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `18 degrees in ${city}`,
  }),
  get_sea: tool({
    description: "Tells how warm the water is.",
    inputSchema: z.object({ coast: z.string() }),
    execute: async ({ coast }) => ({ coast, degrees: 22 }),
  }),
};

const reasoned: { openai: OpenAILanguageModelResponsesOptions } = {
  openai: { reasoningEffort: "low", reasoningSummary: "detailed" },
};

describe(`ai ${installedVersion("ai")} with @ai-sdk/openai ${installedVersion("@ai-sdk/openai")}`, () => {
  test("generateText reads a plain reply", async () => {
    const result = await generateText({ model: provider("antiphon-built-in"), prompt: "Say hello" });
    expect(result.text).toMatch(/hello/i);
    expect(result.finishReason).toBe("stop");
    expect(result.usage.totalTokens).toBe((result.usage.inputTokens ?? 0) + (result.usage.outputTokens ?? 0));
    expect(result.response.headers?.["x-request-id"]).toMatch(/^req_/);
  });

  test("streamText runs a tool and answers in a second step", async () => {
    verifies("client.providers.swappable");
    const result = streamText({
      model: provider("antiphon-built-in"),
      prompt: "What is the weather in Paris?",
      tools: { get_weather: tools.get_weather },
      stopWhen: isStepCount(3),
    });
    let text = "";
    for await (const part of result.textStream) text += part;
    const steps = await result.steps;
    expect(steps.flatMap((step) => step.toolCalls.map((call) => call.input))).toEqual([{ city: "Paris" }]);
    expect(text).toContain("18 degrees");
    expect(steps).toHaveLength(2);
  });

  test.each([
    ["stored, by item_reference", true],
    ["not stored, by sealed reasoning", false],
  ])("generateText takes three steps with tools and reasoning: %s", async (_, store) => {
    verifies("create.input.output-items-are-valid-input");
    const result = await generateText({
      model: provider("gpt-5-mini"),
      prompt: "How is the air, and then the sea?",
      tools,
      stopWhen: isStepCount(5),
      providerOptions: { openai: { ...reasoned.openai, store } },
    });
    expect(result.text).toBe("Warm air and warm water.");
    expect(result.steps.map((step) => step.reasoningText)).toEqual([
      "**The air first**",
      "**The sea next**",
      undefined,
    ]);
    expect(result.steps.map((step) => step.toolResults.map(({ output }) => output))).toEqual([
      ["18 degrees in Nice"],
      [{ coast: "Nice", degrees: 22 }],
      [],
    ]);
    const types = sent.at(-1)?.input.map(({ type }) => type);
    if (store) expect(types).toContain("item_reference");
    else {
      expect(sent.at(-1)?.include).toContain("reasoning.encrypted_content");
      expect(sent.at(-1)?.input.filter(({ type }) => type === "reasoning")).toEqual(
        Array.from({ length: 2 }, () => expect.objectContaining({ encrypted_content: expect.any(String) })),
      );
      expect(types).not.toContain("item_reference");
    }
  });

  test("streamText takes the same three steps", async () => {
    const result = streamText({
      model: provider("gpt-5-mini"),
      prompt: "How is the air, and then the sea?",
      tools,
      stopWhen: isStepCount(5),
      providerOptions: reasoned,
    });
    const kinds = new Set<string>();
    for await (const part of result.stream) kinds.add(part.type);
    expect(await result.text).toBe("Warm air and warm water.");
    expect((await result.steps).map((step) => step.reasoningText)).toEqual([
      "**The air first**",
      "**The sea next**",
      undefined,
    ]);
    for (const kind of ["reasoning-delta", "text-delta", "tool-input-delta", "tool-call", "tool-result", "finish"])
      expect(kinds).toContain(kind);
  });

  test("a second turn sends the first as item_reference history", async () => {
    const messages: ModelMessage[] = [{ role: "user", content: "Say the word marble" }];
    const first = await generateText({ model: provider("antiphon-built-in"), messages });
    const second = await generateText({
      model: provider("antiphon-built-in"),
      messages: [...messages, ...first.response.messages, { role: "user", content: "What did I say?" }],
    });
    expect(sent.at(-1)?.input.map(({ type }) => type ?? "message")).toEqual(["message", "item_reference", "message"]);
    expect(second.text).toContain("marble");
  });

  test("a second turn continues by previousResponseId", async () => {
    const model = provider("antiphon-built-in");
    const first = await generateText({ model, prompt: "My name is Ada." });
    const second = await generateText({
      model,
      prompt: "What is my name?",
      providerOptions: { openai: { previousResponseId: first.response.id } },
    });
    expect(second.text).toContain("Ada");
  });

  test("a turn in a conversation appends to it", async () => {
    const created = await server.post("/v1/conversations", {});
    const { id } = z.object({ id: z.string() }).parse(await created.json());
    const model = provider("antiphon-built-in");
    const providerOptions = { openai: { conversation: id } };
    await generateText({ model, prompt: "My name is Ada.", providerOptions });
    const second = await generateText({ model, prompt: "What is my name?", providerOptions });
    expect(second.text).toContain("Ada");
  });

  test("parallel calls are run and answered together", async () => {
    const result = await generateText({
      model: provider("antiphon-built-in"),
      prompt: "The weather of both cities?",
      tools,
      stopWhen: isStepCount(2),
    });
    expect(result.steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
    expect(result.text).toContain("18 degrees in Paris");
    expect(result.text).toContain("18 degrees in Rome");
  });

  test("a custom tool gets its free-form input", async () => {
    const result = await generateText({
      model: provider("antiphon-built-in"),
      prompt: "Call run_sql with `select 1`",
      tools: { run_sql: provider.tools.customTool({ description: "Runs SQL." }) },
      toolChoice: { type: "tool", toolName: "run_sql" },
    });
    expect(result.toolCalls).toEqual([expect.objectContaining({ toolName: "run_sql", input: expect.any(String) })]);
  });

  test("structured output fits its schema, plain and streamed", async () => {
    verifies("create.text.structured-answer-is-output-text");
    const request = {
      model: provider("antiphon-built-in"),
      prompt: "Alice and Bob meet on Friday.",
      output: Output.object({ schema: z.object({ name: z.string(), guests: z.array(z.string()), count: z.int() }) }),
    };
    expect((await generateText(request)).output).toMatchObject({ name: expect.any(String) });
    const streamed = streamText(request);
    expect(await streamed.output).toMatchObject({ count: expect.any(Number) });
  });

  test("citations become sources", async () => {
    const result = await generateText({ model: provider("antiphon-built-in"), prompt: "Something cited" });
    expect(result.sources).toEqual([expect.objectContaining({ url: "https://example.com", title: "Page" })]);
  });

  test.each([
    ["too long", "length"],
    ["filtered", "content-filter"],
  ])("an answer that is %s ends with reason %s, plain and streamed", async (prompt, reason) => {
    const request = { model: provider("antiphon-built-in"), prompt };
    expect((await generateText(request)).finishReason).toBe(reason);
    expect(await streamText(request).finishReason).toBe(reason);
  });

  test("a refused request is an APICallError with the server's message", async () => {
    const failed = generateText({ model: provider("no-such-model"), prompt: "Hi", maxRetries: 0 });
    await expect(failed).rejects.toBeInstanceOf(APICallError);
    await expect(failed).rejects.toMatchObject({ statusCode: 400, data: { error: { code: "model_not_found" } } });
    const busy = generateText({ model: provider("antiphon-built-in"), prompt: "busy", maxRetries: 0 });
    await expect(busy).rejects.toMatchObject({ statusCode: 429, isRetryable: true });
  });

  test("a run that fails midway is an error part after its text", async () => {
    const result = streamText({ model: provider("antiphon-built-in"), prompt: "dies midway", onError: () => {} });
    const kinds: string[] = [];
    for await (const part of result.stream) kinds.push(part.type);
    expect(kinds).toContain("text-delta");
    expect(kinds).toContain("error");
    await expect(result.finishReason).resolves.toBe("error");
    // The provider demands members in `error` that the reference does not send. The server's message is still in the
    // body.
    const plain = generateText({ model: provider("antiphon-built-in"), prompt: "dies midway", maxRetries: 0 });
    await expect(plain).rejects.toBeInstanceOf(APICallError);
    await expect(plain).rejects.toMatchObject({ responseBody: expect.stringContaining("The model broke off.") });
  });
});

const recordingFetch: typeof fetch = async (url, init) => {
  if (typeof init?.body === "string") sent.push(JSON.parse(init.body));
  return fetch(url, init);
};
