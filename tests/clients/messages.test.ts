import { anthropic, createAnthropic } from "@ai-sdk/anthropic";
import { ChatAnthropic } from "@langchain/anthropic";
import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool as langChainTool } from "@langchain/core/tools";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { startToolServers } from "./tool-servers.ts";

const SCENARIO = `
models: [claude-test]
scenarios:
  - when: { input_contains: both cities, has_tool_output: false }
    events:
      - reasoning: Two of them.
      - text: I will ask.
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris }, chunks: 3 }
      - call: { name: get_weather, call_id: call_2, arguments: { city: Rome }, chunks: 3 }
  - when: { input_contains: both cities }
    events: [{ text: Warm in both. }]
  - when: { input_contains: think }
    events: [{ reasoning: Let me see. }, { text: I thought. }]
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: herons, tool_outputs: 0 }
    events: [{ call: { name: web_search, arguments: { queries: [herons water] } } }]
  - when: { input_contains: herons }
    events: [{ text: They wait.【web:1】 }]
  - when: { input_contains: a place }
    events: [{ text: '{"city":"Paris"}' }]
`;

const CITY = z.object({ city: z.string() });

const others = await startToolServers();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: others.env, scenario: SCENARIO });
});
afterAll(() => server.close());

describe(`@langchain/anthropic ${installedVersion("@langchain/anthropic")}`, () => {
  function chat(): ChatAnthropic {
    return new ChatAnthropic({
      model: "claude-test",
      apiKey: server.apiKey,
      anthropicApiUrl: server.url,
      maxTokens: 1000,
      maxRetries: 0,
    });
  }

  const weather = langChainTool(async ({ city }) => `18 degrees in ${city}`, {
    name: "get_weather",
    description: "Tells the weather of a city.",
    schema: CITY,
  });

  test("invoke() answers, with its usage", async () => {
    verifies("messages.create.answers");
    const answer = await chat().invoke("think");
    expect(answer.text).toBe("I thought.");
    expect(answer).toMatchObject({ usage_metadata: { total_tokens: expect.any(Number) } });
  });

  test("stream() adds up to two calls, and their outputs are taken", async () => {
    verifies("messages.stream.folds-to-body");
    const model = chat().bindTools([weather]);
    const question = new HumanMessage("both cities");
    let whole: AIMessageChunk | null = null;
    for await (const chunk of await model.stream([question])) whole = whole === null ? chunk : whole.concat(chunk);
    if (whole === null) throw new Error("nothing was streamed");
    expect(whole.text).toBe("I will ask.");
    expect(whole.tool_calls?.map(({ args }) => args)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
    const outputs = await Promise.all((whole.tool_calls ?? []).map((call) => weather.invoke(call)));
    expect((await model.invoke([question, whole, ...outputs])).text).toBe("Warm in both.");
  });

  test("a web search of the server comes with its results and citations", async () => {
    verifies("messages.tools.server-tools");
    const model = chat().bindTools([{ type: "web_search_20250305", name: "web_search" }]);
    const { content } = await model.invoke("herons");
    expect(content).toMatchObject([
      { type: "server_tool_use", name: "web_search" },
      { type: "web_search_tool_result", content: [{ url: others.page }] },
      { type: "text", citations: [{ url: others.page }] },
    ]);
  });
});

describe(`@ai-sdk/anthropic ${installedVersion("@ai-sdk/anthropic")}`, () => {
  const model = () => createAnthropic({ baseURL: `${server.url}/v1`, apiKey: server.apiKey })("claude-test");
  const tools = {
    get_weather: tool({ inputSchema: CITY, execute: async ({ city }) => `18 degrees in ${city}` }),
  };

  test("generateText() takes two steps with two calls, and shows the reasoning", async () => {
    verifies("messages.tools.runner");
    const { text, steps } = await generateText({
      model: model(),
      prompt: "both cities",
      tools,
      stopWhen: isStepCount(3),
    });
    expect(text).toBe("Warm in both.");
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
    expect(steps[0]?.reasoningText).toBe("Two of them.");
  });

  test("a web search of the server is a call of the provider, with its sources, streamed or not", async () => {
    verifies("messages.tools.server-tools");
    const asked = { model: model(), prompt: "herons", tools: { web_search: anthropic.tools.webSearch_20250305() } };
    const { sources, toolResults, text } = await generateText(asked);
    expect(text).toContain("They wait.");
    expect(sources).toContainEqual(expect.objectContaining({ sourceType: "url", url: others.page }));
    expect(toolResults).toMatchObject([
      { toolName: "web_search", output: [{ url: others.page, title: "All of herons" }] },
    ]);
    const streamed = streamText(asked);
    expect(await streamed.text).toBe(text);
    expect(await streamed.toolResults).toMatchObject([{ toolName: "web_search", input: { query: "herons water" } }]);
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
