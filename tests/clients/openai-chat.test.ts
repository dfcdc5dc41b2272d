import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

const others = await startToolServers();
const server = await startTestServer({
  env: others.env,
  scenario: `${toolScenarios(others)}
  - when: { input_contains: weather, tool_outputs: 0 }
    events:
      - { text: "I look. " }
      - { call: { name: get_weather, arguments: { city: Paris } } }
      - { call: { name: get_weather, arguments: { city: Rome } } }
  - when: { input_contains: think }
    events: [{ reasoning: "Let me see." }, { text: Done. }]
  - when: { input_contains: counting }
    events: [{ text: "one two three four" }]
  - when: { input_contains: a place }
    events: [{ text: '{"city":"Paris"}' }]
`,
});
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
const model = "gpt-5-mini";

const WEATHER: ChatCompletionTool = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

function ask(content: string): { model: string; messages: ChatCompletionMessageParam[] } {
  return { model, messages: [{ role: "user", content }] };
}

describe(`openai ${installedVersion("openai")}, chat completions`, () => {
  test("create() gives an answer and names its response", async () => {
    verifies("chat.create.answers");
    const { data, response } = await client.chat.completions.create(ask("think of it")).withResponse();
    const responseId = response.headers.get("x-antiphon-response-id") ?? "";
    expect(data.id).toBe(responseId.replace("resp_", "chatcmpl-"));
    expect(data.choices).toMatchObject([
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: "Done.", reasoning_content: "Let me see." },
      },
    ]);
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
  });

  test("the stream helper folds chunks into what create() gives", async () => {
    verifies("chat.stream.folds-to-body");
    const stream = client.chat.completions.stream({
      ...ask("weather"),
      tools: [WEATHER],
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    const plain = await client.chat.completions.create({ ...ask("weather"), tools: [WEATHER] });
    expect(streamed.choices[0]?.finish_reason).toBe("tool_calls");
    expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content);
    expect(calledCities(streamed)).toEqual(["Paris", "Rome"]);
    expect(calledCities(plain)).toEqual(["Paris", "Rome"]);
    expect(streamed.usage).toEqual(plain.usage);
  });

  test("runTools() makes both calls and goes on", async () => {
    verifies("chat.tools.runner");
    const cities: string[] = [];
    const weather: RunnableToolFunctionWithParse<{ city: string }> = {
      type: "function",
      function: {
        name: "get_weather",
        description: "Tells the weather.",
        parameters: { type: "object", properties: { city: { type: "string" } } },
        parse: (json) => JSON.parse(json),
        function: ({ city }) => {
          cities.push(city);
          return "Sun";
        },
      },
    };
    const runner = client.chat.completions.runTools({ ...ask("weather"), stream: true, tools: [weather] });
    expect(await runner.finalContent()).toBe("Done on your side.");
    expect(cities).toEqual(["Paris", "Rome"]);
  });

  test("parse() reads an answer with a schema", async () => {
    const format = zodResponseFormat(z.object({ city: z.string() }), "place");
    const completion = await client.chat.completions.parse({ ...ask("a place"), response_format: format });
    expect(completion.choices[0]?.message.parsed).toEqual({ city: "Paris" });
  });

  test("web_search_options runs the server's search, which is no call of the client, and cites", async () => {
    verifies("chat.tools.hosted-are-not-shown");
    for (const tools of [{ web_search_options: {} }, { tools: [{ type: "web_search" }] }]) {
      const reply = await server.post("/v1/chat/completions", { ...ask("herons"), ...tools });
      const { choices }: OpenAI.ChatCompletion = await reply.json();
      expect(choices[0]?.finish_reason).toBe("stop");
      expect(choices[0]?.message.tool_calls).toBeUndefined();
      const [citation] = choices[0]?.message.annotations ?? [];
      expect(citation).toMatchObject({ type: "url_citation", url_citation: { url: others.page } });
      const { start_index: start = 0, end_index: end = 0 } = citation?.url_citation ?? {};
      expect([...(choices[0]?.message.content ?? "")].slice(start, end).join("")).not.toBe("");
    }
  });

  test("a stream shows citations before its end", async () => {
    const stream = await client.chat.completions.create({ ...ask("herons"), web_search_options: {}, stream: true });
    const deltas: object[] = [];
    for await (const { choices } of stream) for (const { delta } of choices) deltas.push(delta);
    expect(deltas.at(-2)).toMatchObject({ annotations: [{ type: "url_citation" }] });
    expect(deltas.at(-1)).toEqual({});
  });

  test("n answers stand side by side, streamed or not", async () => {
    verifies("chat.create.several-choices");
    const { choices } = await client.chat.completions.create({ ...ask("think"), n: 3 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual(
      [0, 1, 2].map((index) => [index, "Done."]),
    );
    const streamed = await client.chat.completions.stream({ ...ask("think"), n: 2 }).finalChatCompletion();
    expect(streamed.choices.map(({ message }) => message.content)).toEqual(["Done.", "Done."]);
  });

  test("an answer ends before a stop sequence", async () => {
    verifies("chat.create.stop");
    const { choices } = await client.chat.completions.create({ ...ask("counting"), stop: [" three"] });
    expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "one two" } });
  });

  test("deprecated functions are answered in their form", async () => {
    verifies("chat.tools.deprecated-functions");
    const { function: weather } = { function: { name: "get_weather", parameters: { type: "object", properties: {} } } };
    const { choices } = await client.chat.completions.create({ ...ask("weather"), functions: [weather] });
    expect(choices[0]).toMatchObject({
      finish_reason: "function_call",
      message: { function_call: { name: "get_weather" } },
    });
    expect(choices[0]?.message.tool_calls).toBeUndefined();
  });

  test("members that nobody knows fail no request", async () => {
    verifies("chat.create.unknown-members");
    const unknown = {
      ...ask("think"),
      top_k: 4,
      options: { num_ctx: 1 },
      chat_template_kwargs: { enable_thinking: false },
    };
    expect((await client.chat.completions.create(unknown)).choices[0]?.message.content).toBe("Done.");
  });

  test("a key is taken from x-api-key, too", async () => {
    verifies("auth.keys.x-api-key");
    const headers = { "content-type": "application/json", "x-api-key": server.apiKey };
    const init = { method: "POST", headers, body: JSON.stringify(ask("think")) };
    expect((await fetch(`${server.url}/v1/chat/completions`, init)).status).toBe(200);
    const wrong = { ...init, headers: { ...headers, "x-api-key": "sk-wrong" } };
    expect((await fetch(`${server.url}/v1/chat/completions`, wrong)).status).toBe(401);
  });
});

function calledCities({ choices }: OpenAI.ChatCompletion): string[] {
  return (choices[0]?.message.tool_calls ?? []).map((call) =>
    call.type === "function" ? JSON.parse(call.function.arguments).city : "",
  );
}

describe("stored completions", () => {
  test("only those with store are listed, fetched, changed and deleted, and are responses, too", async () => {
    verifies("chat.stored.operations", "chat.stored.only-asked-for");
    const metadata = { topic: "stored" };
    await client.chat.completions.create({ ...ask("think"), metadata });
    const first = await client.chat.completions.create({ ...ask("think one"), metadata, store: true });
    const second = await client.chat.completions.create({ ...ask("weather"), metadata, store: true, tools: [WEATHER] });
    const listed = await client.chat.completions.list({ metadata, limit: 1 });
    expect(listed.data.map(({ id }) => id)).toEqual([first.id]);
    const all: string[] = [];
    for await (const { id } of client.chat.completions.list({ metadata, limit: 1 })) all.push(id);
    expect(all).toEqual([first.id, second.id]);

    const fetched = await client.chat.completions.retrieve(second.id);
    expect(fetched).toEqual({ ...second, metadata });
    const response = await client.responses.retrieve(second.id.replace("chatcmpl-", "resp_"));
    expect(response.output.map(({ type }) => type)).toEqual(["message", "function_call", "function_call"]);

    const changed = await client.chat.completions.update(first.id, { metadata: { topic: "other" } });
    expect(changed.metadata).toEqual({ topic: "other" });
    expect((await client.responses.retrieve(first.id.replace("chatcmpl-", "resp_"))).metadata).toEqual({
      topic: "other",
    });
    expect((await client.chat.completions.list({ metadata })).data.map(({ id }) => id)).toEqual([second.id]);

    expect(await client.chat.completions.delete(first.id)).toEqual({
      object: "chat.completion.deleted",
      id: first.id,
      deleted: true,
    });
    await expect(client.chat.completions.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    const ordinary = await client.responses.create({ model, input: "think" });
    const completionId = ordinary.id.replace("resp_", "chatcmpl-");
    await expect(client.chat.completions.retrieve(completionId)).rejects.toMatchObject({ status: 404 });
  });

  test("the messages of the request are listed", async () => {
    verifies("chat.stored.messages");
    const messages: ChatCompletionMessageParam[] = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "weather" },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "Sun" },
    ];
    const { id } = await client.chat.completions.create({ model, messages, store: true });
    const listed = await client.chat.completions.messages.list(id);
    expect(listed.data).toMatchObject([
      { role: "system", content: "Be brief.", content_parts: null },
      { role: "user", content: "weather", content_parts: [{ type: "text" }, { type: "image_url" }] },
      { role: "assistant", content: null, tool_calls: [{ id: "call_1" }] },
      { role: "tool", content: "Sun" },
    ]);
    const newest = await client.chat.completions.messages.list(id, { order: "desc", limit: 1 });
    expect(newest.data.map(({ role }) => role)).toEqual(["tool"]);
  });
});
