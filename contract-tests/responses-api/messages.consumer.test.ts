import Anthropic from "@anthropic-ai/sdk";
import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkMessagesInteraction, EXAMPLE_MODEL, EXAMPLE_REQUEST_ID, theModel } from "./interaction.fixture.ts";

const { equal, fromProviderState, integer, like, regex, string } = MatchersV3;

const MESSAGE_ID = "msg_0123456789abcdef00674cc8000123456789abcdef00000000";
const PATH = "/v1/messages";
const CREATE = { method: "POST", path: PATH, given: ["a chat model", "our own server"] } as const;
const REPLY_HEADERS = { "request-id": regex("^req_.+$", EXAMPLE_REQUEST_ID) };
const HELLO = [{ role: "user" as const, content: "Say hello" }];
const ASKED = { model: EXAMPLE_MODEL, max_tokens: 100, messages: HELLO };
const model = EXAMPLE_MODEL;

const USAGE = {
  input_tokens: integer(2),
  output_tokens: integer(1),
  cache_creation_input_tokens: equal(0),
  cache_read_input_tokens: equal(0),
  cache_creation: { ephemeral_1h_input_tokens: equal(0), ephemeral_5m_input_tokens: equal(0) },
  output_tokens_details: { thinking_tokens: equal(0) },
  server_tool_use: null,
  service_tier: "standard",
  inference_geo: null,
  speed: null,
};

function message(content: readonly unknown[], reason: string, more: object = {}): object {
  return {
    id: regex("^msg_.+$", MESSAGE_ID),
    type: "message",
    role: "assistant",
    model: fromProviderState("${model}", EXAMPLE_MODEL),
    content,
    stop_reason: reason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: USAGE,
    ...more,
  };
}

const TEXT = { type: "text", text: string("hello"), citations: null };
const WEATHER: Anthropic.Tool = {
  name: "get_weather",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

describe("a client of messages", () => {
  test("gets a text", async () => {
    verifies("messages.create.answers");
    await checkMessagesInteraction(
      {
        ...CREATE,
        request: "for a message",
        body: { ...ASKED, model: theModel },
        reply: { json: shapeOf(message([TEXT], "end_turn")) },
        replyHeaders: { ...REPLY_HEADERS, "x-antiphon-response-id": regex("^resp_.+$", "resp_1") },
      },
      async (client) => {
        const { content } = await client.messages.create(ASKED);
        expect(content).toMatchObject([{ type: "text", text: "hello" }]);
      },
    );
  });

  test("gets a forced call of its tool", async () => {
    const asked = {
      messages: [{ role: "user" as const, content: "What is the weather in Rome?" }],
      tools: [WEATHER],
      tool_choice: { type: "tool" as const, name: "get_weather" },
    };
    const call = {
      type: "tool_use",
      id: regex("^call_.+$", "call_1"),
      name: equal("get_weather"),
      input: like({ city: "Rome" }),
      caller: { type: "direct" },
    };
    await checkMessagesInteraction(
      {
        ...CREATE,
        request: "for a call by message",
        body: { ...ASKED, ...asked, model: theModel },
        reply: { json: shapeOf(message([call], "tool_use")) },
        replyHeaders: REPLY_HEADERS,
      },
      async (client) => {
        const { content } = await client.messages.create({ ...ASKED, ...asked });
        expect(content).toMatchObject([{ type: "tool_use", name: "get_weather" }]);
      },
    );
  });

  test("streams a text", async () => {
    verifies("messages.stream.grammar");
    const usage = { input_tokens: 2, output_tokens: 1 };
    const events = [
      {
        type: "message_start",
        message: { id: MESSAGE_ID, type: "message", role: "assistant", model, content: [], usage },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: null } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    const frame = (type: string, words = ""): string => `event: ${type}\\ndata: \\{"type":"${type}".*${words}.*\\n\\n`;
    const pattern = `^${frame("message_start", '"id":"msg_')}${frame("content_block_start")}(${frame("content_block_delta", '"text_delta"')})+${frame("content_block_stop")}${frame("message_delta", '"stop_reason":"end_turn"')}${frame("message_stop")}$`;
    await checkMessagesInteraction(
      {
        ...CREATE,
        request: "for a streamed message",
        body: { ...ASKED, model: theModel, stream: true },
        reply: { events: frames, pattern },
        replyHeaders: REPLY_HEADERS,
      },
      async (client) => {
        const stream = client.messages.stream(ASKED);
        expect(await stream.finalText()).toBe("hello");
      },
    );
  });

  test("counts the tokens of a request", async () => {
    verifies("messages.tokens.count");
    const asked = { model: EXAMPLE_MODEL, messages: HELLO };
    await checkMessagesInteraction(
      {
        ...CREATE,
        path: `${PATH}/count_tokens`,
        request: "for the tokens of a message",
        body: { ...asked, model: theModel },
        reply: { json: { input_tokens: integer(2) } },
        replyHeaders: REPLY_HEADERS,
      },
      async (client) => {
        expect(await client.messages.countTokens(asked)).toEqual({ input_tokens: 2 });
      },
    );
  });

  test("is refused for no tokens", async () => {
    verifies("messages.errors.own-types");
    const body = { ...ASKED, max_tokens: 0 };
    await checkMessagesInteraction(
      {
        ...CREATE,
        request: "for no tokens by message",
        body: { ...body, model: theModel },
        status: 400,
        reply: {
          json: {
            type: "error",
            error: { type: "invalid_request_error", message: string("It is refused.") },
            request_id: regex("^req_.+$", EXAMPLE_REQUEST_ID),
          },
        },
        replyHeaders: REPLY_HEADERS,
      },
      async (client) => {
        await expect(client.messages.create(body)).rejects.toBeInstanceOf(Anthropic.BadRequestError);
      },
    );
  });
});
