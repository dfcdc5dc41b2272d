import { createOpenAI } from "@ai-sdk/openai";
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import { stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "../verifies.ts";
import { ASKED, BEGUN, KNOWN, OTHER, startBreakingServer, WHOLE } from "./breaking-server.ts";
import { installedVersion } from "./installed-version.ts";
import { WEATHER } from "./openai-client.ts";

const server = await startBreakingServer();

/** The clients that have no member for it ask for background responses all the same, so that they go on. */
const inBackground: typeof fetch = (input, init) => {
  const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : null;
  const sent = body === null || typeof body !== "object" ? init?.body : JSON.stringify({ ...body, background: true });
  return fetch(input, { ...init, body: sent ?? null });
};

const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0, fetch: inBackground });

describe(`openai ${installedVersion("openai")}`, () => {
  test("stream() reads a text that was interrupted and goes on", async () => {
    verifies("state.crash.open-items-go-on");
    const stream = client.responses.stream({ model: "m", input: ASKED.same });
    let words = "";
    stream.on("response.output_text.delta", ({ delta }) => (words += delta));
    const final = await stream.finalResponse();
    expect([words, final.output_text, final.output.length]).toEqual([WHOLE, WHOLE, 1]);
  });

  test("stream() reads a text that was interrupted and said anew, and goes on from it", async () => {
    verifies("state.crash.open-items-go-on");
    const final = await client.responses.stream({ model: "m", input: ASKED.other }).finalResponse();
    expect(final.output).toMatchObject([
      { type: "message", status: "incomplete", content: [{ text: BEGUN }] },
      { type: "message", status: "completed", content: [{ text: OTHER }] },
    ]);
    const next = { model: "m", input: ASKED.same, previous_response_id: final.id };
    expect((await client.responses.stream(next).finalResponse()).output_text).toBe(WHOLE);
  });

  test("stream() reads a call that was interrupted and made anew", async () => {
    verifies("state.crash.open-items-go-on");
    // Of functions that are strict, this helper parses all arguments, also those that were cut off.
    const tools = [{ ...WEATHER, strict: false }];
    const first = await client.responses.stream({ model: "m", input: ASKED.call, tools }).finalResponse();
    const calls = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    expect(calls).toMatchObject([{ status: "incomplete" }, { status: "completed", arguments: '{"city":"Paris"}' }]);
    const output = { type: "function_call_output" as const, call_id: calls[1]?.call_id ?? "", output: "18" };
    const request = { model: "m", input: [output], previous_response_id: first.id, tools };
    expect((await client.responses.stream(request).finalResponse()).output_text).toBe(KNOWN);
  });
});

describe(`ai with @ai-sdk/openai ${installedVersion("@ai-sdk/openai")}`, () => {
  const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, fetch: inBackground });

  test.each([
    [ASKED.same, WHOLE],
    [ASKED.other, BEGUN + OTHER],
  ])("streamText() reads a text that was interrupted: %s", async (prompt, text) => {
    verifies("state.crash.open-items-go-on");
    const result = streamText({ model: provider.responses("m"), prompt });
    let words = "";
    for await (const word of result.textStream) words += word;
    expect([words, await result.text, await result.finishReason]).toEqual([text, text, "stop"]);
  });

  test("streamText() runs a call that was interrupted and made anew, and answers", async () => {
    verifies("state.crash.open-items-go-on");
    const cities: string[] = [];
    const execute = ({ city }: { city: string }): string => {
      cities.push(city);
      return "18";
    };
    const get_weather = tool({ description: "Weather.", inputSchema: z.object({ city: z.string() }), execute });
    const result = streamText({
      model: provider.responses("m"),
      prompt: ASKED.call,
      tools: { get_weather },
      stopWhen: stepCountIs(3),
    });
    expect(await result.text).toBe(KNOWN);
    expect(cities).toEqual(["Paris"]);
  });
});

describe(`@openai/agents ${installedVersion("@openai/agents")}`, () => {
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }), tracingDisabled: true });

  test.each([
    [ASKED.same, WHOLE],
    [ASKED.other, OTHER],
  ])("a streamed run reads a text that was interrupted: %s", async (input, text) => {
    verifies("state.crash.open-items-go-on");
    const agent = new Agent({ name: "Plain", model: "m", instructions: "Be brief." });
    const result = await runner.run(agent, input, { stream: true });
    await result.completed;
    expect(result.finalOutput).toBe(text);
    const next = await runner.run(agent, [...result.history, { role: "user", content: ASKED.same }], { stream: true });
    await next.completed;
    expect(next.finalOutput).toBe(WHOLE);
  });

  test("a streamed run makes a call that was interrupted and made anew, and answers", async () => {
    verifies("state.crash.open-items-go-on");
    const cities: string[] = [];
    const weather = agentTool({
      name: "get_weather",
      description: "Weather.",
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => {
        cities.push(city);
        return "18";
      },
    });
    const agent = new Agent({ name: "Weather", model: "m", instructions: "Be brief.", tools: [weather] });
    const result = await runner.run(agent, ASKED.call, { stream: true });
    await result.completed;
    expect(result.finalOutput).toBe(KNOWN);
    expect(cities).toEqual(["Paris"]);
  });
});
