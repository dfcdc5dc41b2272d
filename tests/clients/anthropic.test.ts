import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { isRecord } from "@antiphon/base/json/records.ts";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer } from "../kit/test-server.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

const others = await startToolServers();
const SCENARIOS = `
  - when: { input_contains: weather, tool_outputs: 0 }
    events:
      - { reasoning: "Two cities." }
      - { text: "I look. " }
      - { call: { name: get_weather, arguments: { city: Paris }, chunks: 3 } }
      - { call: { name: get_weather, arguments: { city: Rome }, chunks: 3 } }
  - when: { input_contains: weather }
    events: [{ text: Warm in both. }]
  - when: { input_contains: think }
    events: [{ reasoning: "Let me see." }, { text: Done. }]
  - when: { input_contains: counting }
    events: [{ text: "one two three four" }]
  - when: { input_contains: a place }
    events: [{ text: '{"city":"Paris"}' }]
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: hawks }
    events: [{ text: "They hunt at night.【web:1】" }]
`;
const server = await startTestServer({
  env: others.env,
  scenario: toolScenarios(others).replace("scenarios:\n", `scenarios:${SCENARIOS}`),
});
afterAll(() => server.close());
const client = new Anthropic({ baseURL: server.url, apiKey: server.apiKey, maxRetries: 0 });
const model = "gpt-5-mini";

function ask(content: string) {
  return { model, max_tokens: 1000, messages: [{ role: "user" as const, content }] };
}

const WEATHER: Anthropic.Tool = {
  name: "get_weather",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

describe(`@anthropic-ai/sdk ${installedVersion("@anthropic-ai/sdk")}`, () => {
  test("create() gives an answer and names its response", async () => {
    verifies("messages.create.answers");
    const { data, response } = await client.messages.create(ask("think of it")).withResponse();
    const responseId = response.headers.get("x-antiphon-response-id") ?? "";
    expect(data.id).toBe(responseId.replace("resp_", "msg_"));
    expect(data).toMatchObject({
      model,
      stop_reason: "end_turn",
      content: [
        { type: "thinking", thinking: "Let me see.", signature: expect.stringMatching(/./) },
        { type: "text", text: "Done." },
      ],
    });
    expect(data.usage.output_tokens).toBeGreaterThan(0);
  });

  test("the stream helper folds events into what create() gives", async () => {
    verifies("messages.stream.folds-to-body");
    const streamed = await client.messages.stream({ ...ask("weather"), tools: [WEATHER] }).finalMessage();
    const plain = await client.messages.create({ ...ask("weather"), tools: [WEATHER] });
    expect(streamed.stop_reason).toBe("tool_use");
    const shape = ({ content }: Anthropic.Message) =>
      content.map((block) => ({ ...block, ...("id" in block ? { id: "" } : {}), signature: "" }));
    expect(shape(streamed)).toEqual(shape(plain));
    expect(calledCities(streamed)).toEqual(["Paris", "Rome"]);
    expect(streamed.usage).toEqual(plain.usage);
  });

  test("the tool runner makes both calls and goes on, streamed or not", async () => {
    verifies("messages.tools.runner");
    for (const stream of [false, true]) {
      const cities: string[] = [];
      const weather = betaZodTool({
        name: "get_weather",
        description: "Tells the weather.",
        inputSchema: z.object({ city: z.string() }),
        run: ({ city }) => {
          cities.push(city);
          return "Sun";
        },
      });
      const message = await client.beta.messages
        .toolRunner({ ...ask("weather"), tools: [weather], stream })
        .runUntilDone();
      expect(message.content).toMatchObject([{ type: "text", text: "Warm in both." }]);
      expect(cities).toEqual(["Paris", "Rome"]);
    }
  });

  test("parse() reads an answer with a schema", async () => {
    const format = zodOutputFormat(z.object({ city: z.string() }));
    const message = await client.messages.parse({ ...ask("a place"), output_config: { format } });
    expect(message.parsed_output).toEqual({ city: "Paris" });
  });

  test("countTokens() counts", async () => {
    verifies("messages.tokens.count");
    const { max_tokens: _max, ...prompt } = ask("think");
    expect((await client.messages.countTokens(prompt)).input_tokens).toBeGreaterThan(0);
  });

  test.each([
    ["too long", "max_tokens", null],
    ["counting", "stop_sequence", " three"],
  ])("an answer tells why it ended: %s", async (words, reason, sequence) => {
    verifies("messages.create.stop");
    const message = await client.messages.create({ ...ask(words), stop_sequences: [" three"] });
    expect(message).toMatchObject({ stop_reason: reason, stop_sequence: sequence });
  });

  test("a web search of the server is shown with its results and cited, streamed or not", async () => {
    verifies("messages.tools.server-tools");
    const tools: Anthropic.ToolUnion[] = [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }];
    const plain = await client.messages.create({ ...ask("herons"), tools });
    const streamed = await client.messages.stream({ ...ask("herons"), tools }).finalMessage();
    for (const { content, stop_reason, usage } of [plain, streamed]) {
      const [use, result, text] = content;
      expect(use).toMatchObject({ type: "server_tool_use", name: "web_search", input: { query: "herons water" } });
      expect(result).toMatchObject({
        type: "web_search_tool_result",
        tool_use_id: use !== undefined && "id" in use ? use.id : "",
        content: [{ type: "web_search_result", url: others.page, title: "All of herons" }],
      });
      expect(text).toMatchObject({
        type: "text",
        citations: [{ type: "web_search_result_location", url: others.page, title: "All of herons" }],
      });
      expect([stop_reason, usage.server_tool_use]).toEqual([
        "end_turn",
        { web_search_requests: 1, web_fetch_requests: 0 },
      ]);
    }
    // The blocks come back as the call and its results.
    const more = { role: "user" as const, content: "think" };
    const again = await client.messages.create({
      ...ask("herons"),
      messages: [...ask("herons").messages, { role: "assistant", content: plain.content }, more],
    });
    expect(again.content.at(-1)).toMatchObject({ text: "Done." });
  });

  test("a page that is opened is shown as web_fetch", async () => {
    verifies("messages.tools.server-tools");
    const tools: Anthropic.ToolUnion[] = [
      { type: "web_search_20260209", name: "web_search" },
      { type: "web_fetch_20250910", name: "web_fetch" },
    ];
    const { content } = await client.messages.create({ ...ask("herons in depth"), tools });
    expect(content.map(({ type }) => type)).toEqual([
      "server_tool_use",
      "web_search_tool_result",
      "server_tool_use",
      "web_fetch_tool_result",
      "text",
    ]);
    expect(content[3]).toMatchObject({ content: { type: "web_fetch_result", url: others.page } });
  });

  test("a client that asks for nothing but a search gets one for its words, whatever the model would do", async () => {
    verifies("messages.tools.search-at-once");
    const before = others.searched.length;
    const { content } = await client.messages
      .stream({
        ...ask("Perform a web search for the query: where hawks hunt"),
        tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }],
      })
      .finalMessage();
    expect(others.searched.slice(before)).toEqual(["where hawks hunt"]);
    expect(content.map(({ type }) => type)).toEqual(["server_tool_use", "web_search_tool_result", "text"]);
    expect(content[2]).toMatchObject({
      text: expect.stringMatching(/^They hunt at night/),
      citations: [{ url: others.page }],
    });
  });

  test("no result comes from a blocked domain", async () => {
    const tools: Anthropic.ToolUnion[] = [
      { type: "web_search_20250305", name: "web_search", blocked_domains: ["example.com"] },
    ];
    const { content } = await client.messages.create({ ...ask("herons"), tools });
    expect(content[1]).toMatchObject({ content: [{ url: others.page }] });
    const wrong = { type: "web_search_20250305", name: "web_search", blocked_domains: ["https://example.com/a"] };
    expect((await server.post("/v1/messages", { ...ask("herons"), tools: [wrong] })).status).toBe(400);
  });

  test("an MCP server is called without asking, and shown", async () => {
    verifies("messages.tools.server-tools");
    const shop = await startModern({ legacy: true });
    const request = {
      ...ask("pay"),
      mcp_servers: [
        { type: "url" as const, name: "shop", url: shop.url, authorization_token: "secret-token-of-the-shop" },
      ],
      tools: [{ type: "mcp_toolset" as const, mcp_server_name: "shop" }],
      betas: ["mcp-client-2025-11-20" as const],
    };
    const plain = await client.beta.messages.create(request);
    const streamed = await client.beta.messages.stream(request).finalMessage();
    for (const { content } of [plain, streamed]) {
      expect(content).toMatchObject([
        { type: "mcp_tool_use", name: "pay", server_name: "shop", input: { amount: 3 } },
        { type: "mcp_tool_result", is_error: false },
        { type: "text", text: "I asked the shop." },
      ]);
    }
    expect(shop.ran).toEqual(["pay 3", "pay 3"]);
  });

  test("errors have the SDK's classes", async () => {
    verifies("messages.errors.own-types");
    await expect(client.messages.create({ ...ask("x"), max_tokens: 0 })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
    const stranger = new Anthropic({ baseURL: server.url, apiKey: "sk-wrong", maxRetries: 0 });
    const refused = stranger.messages.create(ask("x"));
    await expect(refused).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(refused).rejects.toMatchObject({
      requestID: expect.stringMatching(/^req_/),
      type: "authentication_error",
    });
  });

  test("the models are listed", async () => {
    verifies("messages.models.listed");
    const page = await client.models.list({ limit: 1000 });
    expect(page.data).toContainEqual(expect.objectContaining({ id: model, type: "model", display_name: model }));
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, type: "model" });
  });
});

function calledCities({ content }: Anthropic.Message): unknown[] {
  return content.flatMap((block) => (block.type === "tool_use" && isRecord(block.input) ? [block.input["city"]] : []));
}
