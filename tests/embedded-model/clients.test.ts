/**
 * Structured output and calls of functions through official clients. `LANGUAGE_MODEL_FILE` names a real model; without
 * it, the model of random weights answers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { readStream } from "../responses/read-stream.ts";
import { ENGINE, MODEL, type ModelServer, serveModelFile, startModelServer } from "./model-server.ts";

/** What `make test-setup` installs where there is a python3 with venv. */
const PYTHON = resolve(import.meta.dirname, "../../.cache/python-clients/bin/python");
const PROGRAM = join(import.meta.dirname, "../clients/python/shapes_client.py");
const REAL_FILE = process.env["LANGUAGE_MODEL_FILE"];
const TIMEOUT_MS = 180_000;

const ASK = "Ann wants 2 apples";
const Order = z.object({
  customer: z.string(),
  lines: z.array(z.object({ product: z.string(), count: z.number().int().min(1).max(99) })).max(5),
});
const City = z.object({ city: z.string() });
const ASK_WEATHER = "What is the weather in Rome?";
/** Enough for the smallest order, letter by letter. */
const SHAPE_TOKENS = 700;
const CALL_TOKENS = 300;

describe.skipIf(ENGINE === null)("official clients of the language model in a child", { timeout: TIMEOUT_MS }, () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = REAL_FILE === undefined ? await startModelServer() : await serveModelFile(resolve(REAL_FILE));
  });
  afterAll(() => server?.close());

  function runner(): Runner {
    return new Runner({ modelProvider: new OpenAIProvider({ openAIClient: server.client }), tracingDisabled: true });
  }

  function chat(fields: ChatOpenAIFields = {}): ChatOpenAI {
    const configuration = { baseURL: `${server.url}/v1` };
    return new ChatOpenAI({ model: MODEL, apiKey: server.apiKey, configuration, useResponsesApi: true, ...fields });
  }

  describe("openai", () => {
    test.each([false, true])("an answer is parsed by its schema; streamed: %s", async (isStreamed) => {
      const request = {
        model: MODEL,
        input: ASK,
        text: { format: zodTextFormat(Order, "order") },
        max_output_tokens: SHAPE_TOKENS,
      };
      const { output_parsed: order } = isStreamed
        ? await server.client.responses.stream(request).finalResponse()
        : await server.client.responses.parse(request);
      expect(Order.parse(order)).toEqual(order);
    });

    test("a required call is parsed, and its output is answered", async () => {
      const tools = [zodResponsesFunction({ name: "get_weather", parameters: City })];
      const limits = { model: MODEL, max_output_tokens: CALL_TOKENS };
      const first = await server.client.responses.parse({
        ...limits,
        input: ASK_WEATHER,
        tools,
        tool_choice: "required",
      });
      const [call] = first.output;
      if (call?.type !== "function_call") throw new Error("There is no call.");
      expect(City.parse(call.parsed_arguments)).toEqual(call.parsed_arguments);
      const output = { type: "function_call_output" as const, call_id: call.call_id, output: "18 degrees" };
      const second = await server.client.responses.create({
        ...limits,
        previous_response_id: first.id,
        input: [output],
      });
      expect(second.output_text).not.toBe("");
    });

    test("each stream follows the grammar, and the SDK reads from it what the server keeps", async () => {
      const shape = { format: { type: "json_schema", name: "order", schema: z.toJSONSchema(Order) } };
      const weather = { type: "function", name: "get_weather", parameters: z.toJSONSchema(City) };
      const asks = [
        { input: "Say something", max_output_tokens: 40 },
        { input: ASK, text: shape, max_output_tokens: SHAPE_TOKENS },
        { input: ASK_WEATHER, tools: [weather], tool_choice: "required", max_output_tokens: CALL_TOKENS },
        { input: ASK_WEATHER, tools: [weather], tool_choice: "required", max_output_tokens: 40 },
        { input: ASK_WEATHER, tools: [weather], max_output_tokens: 40 },
      ];
      for (const ask of asks) {
        const { final } = await readStream(await server.post("/v1/responses", { model: MODEL, stream: true, ...ask }));
        const kept = await server.client.responses.retrieve(final.id);
        expect(kept.output).toEqual(final.output);
      }
    });
  });

  describe("@openai/agents", () => {
    test.each([false, true])("the final output of an agent is of its type; streamed: %s", async (isStreamed) => {
      const agent = new Agent({
        name: "Clerk",
        model: MODEL,
        instructions: "Read the order.",
        outputType: Order,
        modelSettings: { maxTokens: SHAPE_TOKENS },
      });
      const run = isStreamed ? await runner().run(agent, ASK, { stream: true }) : await runner().run(agent, ASK);
      if ("completed" in run) await run.completed;
      expect(Order.parse(run.finalOutput)).toEqual(run.finalOutput);
    });

    test("an agent runs the tool that it has to call", async () => {
      const asked: string[] = [];
      const getWeather = tool({
        name: "get_weather",
        description: "Tells the weather of a city.",
        parameters: City,
        execute: async ({ city }) => {
          asked.push(city);
          return "18 degrees";
        },
      });
      const agent = new Agent({
        name: "Helper",
        model: MODEL,
        tools: [getWeather],
        toolUseBehavior: "stop_on_first_tool", // A model of random weights seldom ends a text.
        modelSettings: { toolChoice: "required", maxTokens: CALL_TOKENS },
      });
      const { newItems } = await runner().run(agent, ASK_WEATHER);
      expect(asked).toHaveLength(1);
      expect(newItems.map(({ type }) => type)).toEqual(["tool_call_item", "tool_call_output_item"]);
    });
  });

  describe("@langchain/openai", () => {
    test("withStructuredOutput() reads an answer with a schema", async () => {
      const options = { name: "order", method: "jsonSchema", strict: true } as const;
      const order = await chat({ maxTokens: SHAPE_TOKENS }).withStructuredOutput(Order, options).invoke(ASK);
      expect(Order.parse(order)).toEqual(order);
    });

    test("a bound tool that has to be called has arguments of its schema", async () => {
      const getWeather = langchainTool(async () => "18 degrees", { name: "get_weather", schema: City });
      const model = chat({ maxTokens: CALL_TOKENS }).bindTools([getWeather], { tool_choice: "get_weather" });
      const { tool_calls: calls } = await model.invoke(ASK_WEATHER);
      expect(calls).toHaveLength(1);
      expect(City.parse(calls?.[0]?.args)).toEqual(calls?.[0]?.args);
    });
  });

  test.skipIf(!existsSync(PYTHON)).each(["parsed", "shaped", "shaped, streamed"])("Python: %s", async (way) => {
    expect(await python(way)).toEqual({ customer: expect.any(String), lines: expect.any(Array) });
  });

  test.skipIf(!existsSync(PYTHON))("Python: an agent runs the tool that it has to call", async () => {
    expect(await python("called")).toEqual({
      cities: [expect.any(String)],
      items: ["tool_call_item", "tool_call_output_item"],
    });
  });

  async function python(way: string): Promise<unknown> {
    const child = spawn(PYTHON, [PROGRAM], {
      env: {
        PATH: process.env["PATH"],
        OPENAI_BASE_URL: `${server.url}/v1`,
        OPENAI_API_KEY: server.apiKey,
        OPENAI_AGENTS_DISABLE_TRACING: "1",
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    child.stdin.end(`${JSON.stringify({ way })}\n`);
    const said = await text(child.stdout);
    await closed;
    return JSON.parse(said);
  }
});
