import { isRecord } from "@antiphon/base/json/records.ts";
import OpenAI from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import { expect, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { startToolServers } from "../clients/tool-servers.ts";
import { type Answer, chunks, delta, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const TOOLS: ChatCompletionTool[] = [
  { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } },
];
const HELLO: ChatCompletionMessageParam = { role: "user", content: "Where do herons wait in the rain?" };
const OUTPUT = { role: "tool", tool_call_id: "call_weather", content: "Sun" } as const;

function calls(name: string, json: string): Answer {
  const call = { index: 0, id: `call_${name}`, type: "function", function: { name, arguments: json } };
  return chunks(delta({ tool_calls: [call] }), lastChunk("tool_calls"));
}

/** A model that searches, then says something and calls a function of the client, then answers. */
const model: Answer = (response, call) => {
  const messages = messagesIn(call.body);
  const outputs = messages.filter((message) => isRecord(message) && message["role"] === "tool").length;
  if (outputs === 0) return calls("web_search", '{"queries":["herons"]}')(response, call);
  if (outputs > 1) return chunks(textChunk("They wait in the sun."), lastChunk("stop"))(response, call);
  const weather = { index: 0, id: "call_weather", type: "function", function: { name: "weather", arguments: "{}" } };
  return chunks(
    delta({ reasoning_content: "Hm." }),
    textChunk("I look."),
    delta({ tool_calls: [weather] }),
    lastChunk("tool_calls"),
  )(response, call);
};

function messagesIn(body: string): readonly unknown[] {
  const asked: unknown = JSON.parse(body);
  return isRecord(asked) && Array.isArray(asked["messages"]) ? asked["messages"] : [];
}

test.each([false, true])(
  "what tools of this server did comes back with the message of a client (streamed: %s)",
  async (stream) => {
    verifies("chat.tools.hosted-come-back");
    const behind = await serveBehind(model, (await startToolServers()).env);
    const client = new OpenAI({ baseURL: `${behind.server.url}/v1`, apiKey: behind.server.apiKey, maxRetries: 0 });
    const asked = { model: "m", messages: [HELLO], tools: TOOLS, web_search_options: {}, store: true };
    const first = stream
      ? await client.chat.completions.stream(asked).finalChatCompletion()
      : await client.chat.completions.create(asked);
    const [choice] = first.choices;
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: "I look.", hosted_items: expect.any(String) },
    });
    if (choice === undefined) throw new Error("a completion has a choice");
    await behind.create({
      input: [{ type: "function_call_output", call_id: "call_weather", output: "Sun" }],
      tools: [{ type: "web_search" }, { type: "function", name: "weather", parameters: { type: "object" } }],
      previous_response_id: first.id.replace("chatcmpl-", "resp_"),
    });
    const byResponse = messagesIn(behind.upstream.calls.at(-1)?.body ?? "");
    expect(JSON.stringify(byResponse)).toContain("Herons wait in water.");
    const last = await client.chat.completions.create({ ...asked, messages: [HELLO, choice.message, OUTPUT] });
    expect(last.choices[0]?.message.content).toBe("They wait in the sun.");
    expect(messagesIn(behind.upstream.calls.at(-1)?.body ?? "")).toEqual(byResponse);
  },
);

test("an answer without them is an answer all the same", async () => {
  const behind = await serveBehind(model, (await startToolServers()).env);
  const client = new OpenAI({ baseURL: `${behind.server.url}/v1`, apiKey: behind.server.apiKey, maxRetries: 0 });
  const asked = { model: "m", messages: [HELLO], tools: TOOLS, web_search_options: {} };
  const message = (await client.chat.completions.create(asked)).choices[0]?.message;
  expect(message?.content).toBe("I look.");
  const { tool_calls: toolCalls = [] } = message ?? {};
  for (const hosted of [{}, { hosted_items: "another server's" }]) {
    const answer: ChatCompletionMessageParam = {
      role: "assistant",
      content: "I look.",
      tool_calls: toolCalls,
      ...hosted,
    };
    const earlier = behind.upstream.calls.length;
    await client.chat.completions.create({ ...asked, messages: [HELLO, answer, OUTPUT] });
    const sent = messagesIn(behind.upstream.calls[earlier]?.body ?? "");
    expect(sent.slice(-3)).toMatchObject([
      HELLO,
      { role: "assistant", content: "I look." },
      { role: "tool", content: "Sun" },
    ]);
  }
});
