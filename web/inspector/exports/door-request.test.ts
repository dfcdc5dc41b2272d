import type { CreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import type { CreateMessageRequest } from "@antiphon/contracts/messages/types.ts";
import { expect, test } from "vitest";
import { Antiphon } from "../../../packages/client/src/index.ts";
import { PIXEL } from "../../../tests/clients/tool-servers.ts";
import { says, serveBehind } from "../../../tests/responses/behind-upstream.ts";
import { verifies } from "../../../tests/verifies.ts";
import { readInputItems } from "../api/input-items.ts";
import { asShownItem } from "../items/fold-events.ts";
import { doorRequest } from "./door-request.ts";
import { requestOf } from "./request-of.ts";

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const CHAT: CreateChatCompletionRequest = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}`, detail: "low" } },
      ],
    },
    {
      role: "assistant",
      content: "I look.",
      reasoning_content: "Hm.",
      tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "Sun" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_2", type: "custom", custom: { name: "sql", input: "select 1" } }],
    },
    { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "1" }] },
    { role: "assistant", content: null, refusal: "No." },
    { role: "user", content: "And now?" },
  ],
  tools: [
    { type: "function", function: { name: "weather", description: "Tells it.", parameters: SCHEMA } },
    {
      type: "function",
      function: { name: "paint", parameters: { ...SCHEMA, additionalProperties: false }, strict: true },
    },
    {
      type: "custom",
      custom: { name: "sql", format: { type: "grammar", grammar: { definition: "start: /s/", syntax: "lark" } } },
    },
  ],
  tool_choice: {
    type: "allowed_tools",
    allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "weather" } }] },
  },
  response_format: { type: "json_schema", json_schema: { name: "place", schema: SCHEMA, strict: false } },
  reasoning_effort: "low",
  verbosity: "high",
  max_completion_tokens: 700,
  temperature: 0.5,
  parallel_tool_calls: false,
  metadata: { customer: "acme" },
};

const MESSAGE: CreateMessageRequest = {
  model: "m",
  max_tokens: 500,
  system: "Be brief.",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "call_1", name: "weather", input: { city: "Rome" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_1", content: "Sun" },
        { type: "text", text: "And now?" },
      ],
    },
    { role: "system", content: "It is noon." },
  ],
  tools: [{ name: "weather", description: "Tells it.", input_schema: SCHEMA }],
  tool_choice: { type: "any", disable_parallel_tool_use: true },
  output_config: { effort: "high" },
  metadata: { user_id: "user-7" },
  temperature: 0.5,
};

const TEXT = { model: "m", prompt: "Once upon a time", max_tokens: 40, temperature: 0.5 };

test.each([
  ["chat", "/v1/chat/completions", CHAT],
  ["messages", "/v1/messages", MESSAGE],
  ["completions", "/v1/completions", TEXT],
] as const)("the inspector shows a request of %s as its client sent it", async (face, path, body) => {
  verifies("inspection.doors.request");
  const { server } = await serveBehind(says("Well done"), { FACES_STORE: "all" });
  const reply = await server.post(path, body);
  expect(reply.status).toBe(200);
  const id = reply.headers.get("x-antiphon-response-id") ?? "";
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const items = await readInputItems(client, id, AbortSignal.timeout(30_000));
  const request = requestOf(
    await client.getResponse(id),
    items.flatMap((item) => asShownItem(item) ?? []),
  );
  expect(doorRequest(request, face)).toEqual({ path, body });
});
