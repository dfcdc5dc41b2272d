import { AIMessage, type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, type ChatOpenAIFields, customTool } from "@langchain/openai";
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
      - reasoning_summary: ["**Two calls**"]
      - text: I will ask.
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris }, chunks: 3 }
      - call: { name: get_weather, call_id: call_2, arguments: { city: Rome }, chunks: 3 }
  - when: { input_contains: think }
    events: [{ reasoning_summary: ["**One**", "**Two**"] }, { text: I thought. }]
  - when: { input_contains: cited }
    events:
      - text: See the page.
      - annotation: { type: url_citation, start_index: 4, end_index: 12, url: "https://example.com", title: Page }
  - when: { input_contains: query, has_tool_output: false }
    events: [{ custom_call: { name: run_sql, call_id: call_3, input: "select 1" } }]
  - when: { input_contains: refuse }
    events: [{ refusal: I would rather not. }]
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: never ends }
    events: [{ text: It begins }, { delay_ms: 600000 }]
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ scenario: SCENARIO });
});
afterAll(() => server.close());

function chat(fields: ChatOpenAIFields = {}): ChatOpenAI {
  return new ChatOpenAI({
    model: "antiphon-built-in",
    apiKey: server.apiKey,
    configuration: { baseURL: `${server.url}/v1` },
    useResponsesApi: true,
    maxRetries: 0,
    ...fields,
  });
}

const getWeather = tool(async ({ city }) => `18 degrees in ${city}`, {
  name: "get_weather",
  description: "Tells the weather of a city.",
  schema: z.object({ city: z.string() }),
});

describe(`@langchain/openai ${installedVersion("@langchain/openai")}`, () => {
  test("invoke reads a plain reply", async () => {
    const message = await chat().invoke([new SystemMessage("Be brief."), new HumanMessage("Say hello")]);
    expect(message.text).toMatch(/hello/i);
    expect(message.response_metadata["id"]).toMatch(/^resp_/);
    expect(message).toMatchObject({ usage_metadata: { total_tokens: expect.any(Number) } });
  });

  test("stream yields the words one by one", async () => {
    const { chunks, whole } = await read(await chat().stream("Count to 5"));
    expect(chunks).toBeGreaterThan(5);
    expect(whole.text).toBe("1 2 3 4 5");
    expect(whole).toMatchObject({ usage_metadata: { output_tokens: 5 } });
  });

  test.each([false, true])(
    "parallel tool calls make a round trip, reasoning included (streamed: %s)",
    async (streamed) => {
      verifies("client.providers.swappable", "create.input.output-items-are-valid-input");
      const model = chat({ model: "gpt-5-mini", reasoning: { effort: "low", summary: "detailed" } }).bindTools([
        getWeather,
      ]);
      const asked = [new HumanMessage("The weather of both cities?")];
      const answer = streamed ? (await read(await model.stream(asked))).whole : await model.invoke(asked);
      expect(answer.tool_calls?.map(({ args }) => args)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
      const outputs = await Promise.all((answer.tool_calls ?? []).map((call) => getWeather.invoke(call)));
      const last = await model.invoke([...asked, answer, ...outputs]);
      expect(last.text).toContain("18 degrees in Paris");
      expect(last.text).toContain("18 degrees in Rome");
    },
  );

  test("reasoning summaries are content blocks", async () => {
    const model = chat({ model: "gpt-5-mini", reasoning: { effort: "low", summary: "detailed" } });
    const kinds = (message: AIMessage) => message.contentBlocks.map(({ type }) => type);
    expect(kinds(await model.invoke("think"))).toEqual(expect.arrayContaining(["reasoning", "text"]));
    expect(kinds((await read(await model.stream("think"))).whole)).toEqual(
      expect.arrayContaining(["reasoning", "text"]),
    );
  });

  test("reasoning is sent back encrypted if nothing is stored", async () => {
    const model = chat({
      model: "gpt-5-mini",
      zdrEnabled: true,
      reasoning: { effort: "low", summary: "detailed" },
    }).withConfig({ include: ["reasoning.encrypted_content"] });
    const first = await model.invoke("think");
    const second = await model.invoke([new HumanMessage("think"), first, new HumanMessage("What did I say?")]);
    expect(JSON.stringify(first.additional_kwargs["reasoning"])).toContain("encrypted_content");
    expect(second.text).toContain("think");
  });

  test("a chat continues by previous_response_id", async () => {
    const first = await chat().invoke("My name is Ada.");
    const id = z.string().parse(first.response_metadata["id"]);
    expect((await chat().invoke("What is my name?", { previous_response_id: id })).text).toContain("Ada");
  });

  test("a chat continues in a conversation", async () => {
    const created = await server.post("/v1/conversations", {});
    const { id } = z.object({ id: z.string() }).parse(await created.json());
    const model = chat({ modelKwargs: { conversation: id } });
    await model.invoke("My name is Ada.");
    expect((await model.invoke("What is my name?")).text).toContain("Ada");
  });

  test("structured output fits its schema", async () => {
    const schema = z.object({ name: z.string(), guests: z.array(z.string()), count: z.int() });
    const model = chat().withStructuredOutput(schema, { name: "event", method: "jsonSchema", strict: true });
    expect(schema.safeParse(await model.invoke("Alice and Bob meet on Friday.")).success).toBe(true);
  });

  test("a forced function is called", async () => {
    const model = chat().bindTools([getWeather], { tool_choice: "get_weather" });
    const answer = await model.invoke("Good morning from Oslo");
    expect(answer.tool_calls?.map(({ name }) => name)).toEqual(["get_weather"]);
  });

  test("a custom tool makes a round trip with its free-form input", async () => {
    const runSql = customTool(async (query) => `rows of ${query}`, { name: "run_sql", description: "Runs SQL." });
    const model = chat().bindTools([runSql]);
    const asked = [new HumanMessage("query, please")];
    const answer = await model.invoke(asked);
    expect(answer.tool_calls?.map(({ args }) => args)).toEqual([{ input: "select 1" }]);
    const output = new ToolMessage({
      tool_call_id: answer.tool_calls?.[0]?.id ?? "",
      content: "rows of select 1",
      additional_kwargs: { customTool: true },
    });
    expect((await model.invoke([...asked, answer, output])).text).toContain("rows of select 1");
  });

  test("citations are annotations of the text", async () => {
    const annotations = (message: AIMessage) => JSON.stringify(message.content);
    expect(annotations(await chat().invoke("Something cited"))).toContain("https://example.com");
    expect(annotations((await read(await chat().stream("Something cited"))).whole)).toContain("https://example.com");
  });

  test("refusals and incomplete answers differ from ordinary answers", async () => {
    const refused = await chat().invoke("refuse");
    expect(refused.additional_kwargs["refusal"]).toBe("I would rather not.");
    const cut = await chat().invoke("too long");
    expect(cut.response_metadata).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  test("errors reach the caller with the server's message", async () => {
    await expect(chat({ model: "no-such-model" }).invoke("Hi")).rejects.toMatchObject({
      status: 400,
      code: "model_not_found",
    });
    await expect(chat().invoke("dies midway")).rejects.toThrow("The model broke off.");
    await expect(chat().stream("dies midway").then(read)).rejects.toThrow("The model broke off.");
  });

  test("an abort ends the call", async () => {
    const controller = new AbortController();
    const stream = await chat().stream("Tell me what never ends", { signal: controller.signal });
    const reading = read(stream);
    controller.abort();
    await expect(reading).rejects.toThrow(/abort/i);
  });
});

async function read(stream: AsyncIterable<AIMessageChunk>): Promise<{ chunks: number; whole: AIMessageChunk }> {
  let chunks = 0;
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) {
    chunks += 1;
    whole = whole === undefined ? chunk : whole.concat(chunk);
  }
  if (whole === undefined) throw new Error("the stream had no chunk");
  return { chunks, whole };
}
