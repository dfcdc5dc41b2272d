import { MatchersV3 } from "@pact-foundation/pact";
import OpenAI from "openai";
import type { ChatCompletionTool } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { equal, fromProviderState, regex, string } = MatchersV3;

const CHAT_ID = "chatcmpl-0123456789abcdef00674cc8000123456789abcdef00000000";
const PATH = "/v1/chat/completions";
const CREATE = { method: "POST", path: PATH, given: ["a chat model"] } as const;
const stored = fromProviderState(`${PATH}/\${completion_id}`, `${PATH}/${CHAT_ID}`);
const HELLO = [{ role: "user" as const, content: "Say hello" }];
const model = EXAMPLE_MODEL;

const MESSAGE = { role: "assistant", content: "hello", refusal: null, annotations: [] };
const USAGE = {
  prompt_tokens: 2,
  completion_tokens: 1,
  total_tokens: 3,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

/** A completion with this message, in members that all providers have. */
function completion(message: object = MESSAGE, finish: unknown = "stop", more: object = {}): object {
  return {
    id: regex("^chatcmpl-.+$", CHAT_ID),
    object: "chat.completion",
    created: 1_732_000_000,
    model: EXAMPLE_MODEL,
    choices: [{ index: equal(0), message, logprobs: null, finish_reason: finish }],
    usage: USAGE,
    ...more,
  };
}

const SHOWN_MESSAGE = { ...MESSAGE, content: string("hello") };
/** The reference ends a forced call with stop. */
const FORCED = regex("^(stop|tool_calls)$", "tool_calls");
const WEATHER: ChatCompletionTool = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

describe("a client of chat completions", () => {
  test("gets a text", async () => {
    verifies("contract.parity.same-checks-both-providers", "chat.create.answers");
    await checkInteraction(
      {
        ...CREATE,
        request: "for a chat completion",
        body: { model: theModel, messages: HELLO },
        reply: { json: shapeOf(completion(SHOWN_MESSAGE)) },
      },
      {
        official: async (client) => {
          const { choices } = await client.chat.completions.create({ model, messages: HELLO });
          expect(choices[0]?.message.content).toBe("hello");
        },
      },
    );
  });

  test("gets a forced function call", async () => {
    const choice = { type: "function" as const, function: { name: "get_weather" } };
    const asked = { messages: [{ role: "user" as const, content: "What is the weather in Rome?" }], tools: [WEATHER] };
    const called = {
      name: equal("get_weather"),
      arguments: regex('^\\{\\s*"city"\\s*:\\s*"Rome.*"\\s*\\}$', '{"city":"Rome"}'),
    };
    const calls = [{ id: regex("^call_.+$", "call_1"), type: "function", function: called }];
    await checkInteraction(
      {
        ...CREATE,
        request: "for a call by chat",
        body: { model: theModel, ...asked, tool_choice: choice },
        reply: { json: shapeOf(completion({ ...MESSAGE, content: null, tool_calls: calls }, FORCED)) },
      },
      {
        official: async (client) => {
          const { choices } = await client.chat.completions.create({ model, ...asked, tool_choice: choice });
          expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "get_weather" } }]);
        },
      },
    );
  });

  test("gets a text completed", async () => {
    verifies("completions.create.answers");
    const text = { text: string("hello"), index: equal(0), logprobs: null, finish_reason: "stop" };
    await checkInteraction(
      {
        method: "POST",
        path: "/v1/completions",
        given: ["a chat model", "our own server"], // The reference completes texts by models of their own only.
        request: "for a completion of a text",
        body: { model: theModel, prompt: "Say hello", max_tokens: 100 },
        reply: {
          json: shapeOf({
            id: regex("^cmpl-.+$", "cmpl-1"),
            object: "text_completion",
            created: 1_732_000_000,
            model: EXAMPLE_MODEL,
            choices: [text],
            usage: USAGE,
          }),
        },
      },
      {
        official: async (client) => {
          const { choices } = await client.completions.create({ model, prompt: "Say hello", max_tokens: 100 });
          expect(choices[0]?.text).toBe("hello");
        },
      },
    );
  });

  test("streams a text, with its usage at the end", async () => {
    verifies("chat.stream.folds-to-body");
    const asked = { messages: HELLO, stream: true as const, stream_options: { include_usage: true } };
    const head = { id: CHAT_ID, object: "chat.completion.chunk", created: 1_732_000_000, model };
    const chunk = (delta: object, finish: string | null): object => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
    });
    const chunks = [
      chunk({ role: "assistant", content: "", refusal: null }, null),
      chunk({ content: "hello" }, null),
      chunk({}, "stop"),
      { ...head, choices: [], usage: USAGE },
    ];
    const line = (data: string): string => `data: ${data}\n\n`;
    const events = [...chunks.map((data) => JSON.stringify(data)), "[DONE]"].map(line).join("");
    const pattern =
      '^data: \\{"id":"chatcmpl-.*"role":"assistant".*\\n\\n(data: \\{.*"content":".*\\n\\n)+data: \\{.*"finish_reason":"stop".*\\n\\ndata: \\{.*"choices":\\[\\],.*"prompt_tokens":.*\\n\\ndata: \\[DONE\\]\\n\\n$';
    await checkInteraction(
      {
        ...CREATE,
        request: "for a streamed chat completion",
        body: { model: theModel, ...asked },
        reply: { events, pattern },
      },
      {
        official: async (client) => {
          const stream = await client.chat.completions.create({ model, ...asked });
          const texts = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.content ?? "");
          expect(texts.join("")).toBe("hello");
        },
      },
    );
  });

  test("is told which member is at fault", async () => {
    verifies("chat.errors.names-the-member");
    await checkRefusal(
      {
        ...CREATE,
        request: "with too high a temperature by chat",
        body: { model: theModel, messages: HELLO, temperature: 3 },
      },
      { status: 400, code: "decimal_above_max_value", param: "temperature", message: string("Invalid 'temperature'.") },
      { official: (client) => client.chat.completions.create({ model, messages: HELLO, temperature: 3 }) },
    );
  });
});

describe("a client of stored chat completions", () => {
  const given = ["a stored chat completion"] as const;
  const metadata = { topic: "greeting" };
  const whole = shapeOf(completion(SHOWN_MESSAGE, "stop", { metadata }));

  test("fetches one", async () => {
    verifies("chat.stored.operations");
    await checkInteraction(
      { given, request: "for a stored chat completion", method: "GET", path: stored, reply: { json: whole } },
      { official: async (client) => expect((await client.chat.completions.retrieve(CHAT_ID)).id).toBe(CHAT_ID) },
    );
  });

  test("lists them by their metadata", async () => {
    const list = { object: "list", data: [completion(SHOWN_MESSAGE, "stop", { metadata })], has_more: false };
    const ids = { first_id: regex("^chatcmpl-.+$", CHAT_ID), last_id: regex("^chatcmpl-.+$", CHAT_ID) };
    await checkInteraction(
      {
        given,
        request: "for stored chat completions",
        method: "GET",
        path: PATH,
        query: { "metadata[run]": fromProviderState("${run}", "run-1") },
        reply: { json: shapeOf({ ...list, ...ids }) },
      },
      {
        official: async (client) => {
          const page = await client.chat.completions.list({ metadata: { run: "run-1" } });
          expect(page.data.map(({ id }) => id)).toEqual([CHAT_ID]);
        },
      },
    );
  });

  test("replaces its metadata", async () => {
    const changed = shapeOf(completion(SHOWN_MESSAGE, "stop", { metadata: { topic: "farewell" } }));
    await checkInteraction(
      {
        given,
        request: "to change a chat completion",
        method: "POST",
        path: stored,
        body: { metadata: { topic: "farewell" } },
        reply: { json: changed },
      },
      {
        official: async (client) =>
          void (await client.chat.completions.update(CHAT_ID, { metadata: { topic: "farewell" } })),
      },
    );
  });

  test("lists the messages of its request", async () => {
    verifies("chat.stored.messages");
    const message = {
      id: regex("^chatcmpl-.+$", `${CHAT_ID}-0`),
      role: "user",
      content: string("Say hello"),
      content_parts: null,
    };
    await checkInteraction(
      {
        given,
        request: "for the messages of a chat completion",
        method: "GET",
        path: fromProviderState(`${PATH}/\${completion_id}/messages`, `${PATH}/${CHAT_ID}/messages`),
        reply: { json: { object: "list", data: [message], has_more: false } },
      },
      {
        official: async (client) => {
          const { data } = await client.chat.completions.messages.list(CHAT_ID);
          expect(data.map(({ content }) => content)).toEqual(["Say hello"]);
        },
      },
    );
  });

  test("deletes one", async () => {
    const deleted = { object: "chat.completion.deleted", id: regex("^chatcmpl-.+$", CHAT_ID), deleted: true };
    await checkInteraction(
      { given, request: "to delete a chat completion", method: "DELETE", path: stored, reply: { json: deleted } },
      { official: async (client) => expect((await client.chat.completions.delete(CHAT_ID)).deleted).toBe(true) },
    );
  });

  test("finds none by an unknown id", async () => {
    await checkRefusal(
      { request: "for an unknown chat completion", method: "GET", path: `${PATH}/${CHAT_ID}` },
      { status: 404, param: "completion_id", message: string("Chat completion with id 'chatcmpl-1' not found.") },
      { official: (client: OpenAI) => client.chat.completions.retrieve(CHAT_ID) },
    );
  });
});
