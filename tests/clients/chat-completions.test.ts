import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool as langChainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";

const SCENARIO = `
models: [gpt-5-mini]
scenarios:
  - when: { input_contains: both cities, has_tool_output: false }
    events:
      - text: I will ask.
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris }, chunks: 3 }
      - call: { name: get_weather, call_id: call_2, arguments: { city: Rome }, chunks: 3 }
  - when: { input_contains: both cities }
    events: [{ text: Warm in both. }]
  - when: { input_contains: think }
    events: [{ reasoning: Let me see. }, { text: I thought. }]
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: a place }
    events: [{ text: '{"city":"Paris"}' }]
`;

const CITY = z.object({ city: z.string() });
const COUNTED = { usage_metadata: { total_tokens: expect.any(Number) } };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ scenario: SCENARIO });
});
afterAll(() => server.close());

describe(`@langchain/openai ${installedVersion("@langchain/openai")}, chat completions`, () => {
  function chat(): ChatOpenAI {
    const configuration = { baseURL: `${server.url}/v1` };
    return new ChatOpenAI({ model: "gpt-5-mini", apiKey: server.apiKey, configuration, maxRetries: 0 });
  }

  const weather = langChainTool(async ({ city }) => `18 degrees in ${city}`, {
    name: "get_weather",
    description: "Tells the weather of a city.",
    schema: CITY,
  });

  test("invoke() answers by its default, with its usage", async () => {
    verifies("chat.create.answers");
    const answer = await chat().invoke("think");
    expect(answer.text).toBe("I thought.");
    expect(answer).toMatchObject(COUNTED);
  });

  test("stream() adds up to two calls, and their outputs are taken", async () => {
    verifies("chat.stream.folds-to-body");
    const model = chat().bindTools([weather]);
    const question = new HumanMessage("both cities");
    let whole: AIMessageChunk | null = null;
    for await (const chunk of await model.stream([question])) whole = whole === null ? chunk : whole.concat(chunk);
    if (whole === null) throw new Error("nothing was streamed");
    expect(whole.text).toBe("I will ask.");
    expect(whole.tool_calls?.map(({ args }) => args)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
    expect(whole).toMatchObject(COUNTED);
    const outputs = await Promise.all((whole.tool_calls ?? []).map((call) => weather.invoke(call)));
    expect((await model.invoke([question, whole, ...outputs])).text).toBe("Warm in both.");
  });

  test("withStructuredOutput() reads an answer with a schema", async () => {
    const place = chat().withStructuredOutput(CITY, { method: "jsonSchema" });
    expect(await place.invoke("a place")).toEqual({ city: "Paris" });
  });
});

const PROVIDERS = [
  [
    `@ai-sdk/openai ${installedVersion("@ai-sdk/openai")}, chat completions`,
    () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey }).chat("gpt-5-mini"),
  ],
  [
    `@ai-sdk/openai-compatible ${installedVersion("@ai-sdk/openai-compatible")}`,
    () =>
      createOpenAICompatible({
        name: "antiphon",
        baseURL: `${server.url}/v1`,
        apiKey: server.apiKey,
        supportsStructuredOutputs: true,
      })("gpt-5-mini"),
  ],
] as const;

describe.each(PROVIDERS)("%s", (_name, model) => {
  const tools = {
    get_weather: tool({ inputSchema: CITY, execute: async ({ city }) => `18 degrees in ${city}` }),
  };

  test("generateText() takes two steps with two calls", async () => {
    verifies("chat.tools.runner");
    const { text, steps } = await generateText({
      model: model(),
      prompt: "both cities",
      tools,
      stopWhen: isStepCount(3),
    });
    expect(text).toBe("Warm in both.");
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
  });

  test("streamText() streams the same, and tells why it ended", async () => {
    const streamed = streamText({ model: model(), prompt: "both cities", tools, stopWhen: isStepCount(3) });
    expect(await streamed.text).toBe("Warm in both.");
    const cut = streamText({ model: model(), prompt: "too long" });
    expect(await cut.text).toBe("This is too");
    expect(await cut.finishReason).toBe("length");
  });

  test("an object comes by its schema", async () => {
    const { output } = await generateText({
      model: model(),
      prompt: "a place",
      output: Output.object({ schema: CITY }),
    });
    expect(output).toEqual({ city: "Paris" });
  });
});
