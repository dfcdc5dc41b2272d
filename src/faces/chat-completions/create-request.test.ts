import type { CreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import { validateCreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/validators.js";
import type { CreateResponseRequest, InputItem } from "@antiphon/contracts/responses-api/types.ts";
import { validateCreateResponseRequest } from "@antiphon/contracts/responses-api/validators.js";
import { expect, test } from "vitest";
import { createRequest, modelExtras } from "./create-request.ts";

/** Shows what it seals. */
const seal = {
  seal: (kind: string, text: string) => `${kind}:${text}`,
  open: (kind: string, sealedText: string) =>
    sealedText.startsWith(`${kind}:`) ? sealedText.slice(kind.length + 1) : null,
};

const SEARCH = {
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action: { type: "search", query: "tides" },
} as const;
const CALL = { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: "{}" } as const;
const ANSWER: InputItem = {
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }],
};
/** What shows the model again what tools of this server did. */
const HOSTED_INCLUDE: NonNullable<CreateResponseRequest["include"]> = [
  "web_search_call.results",
  "file_search_call.results",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
];
const HOSTED = seal.seal("items", JSON.stringify([SEARCH, ANSWER, CALL]));
const CALLED = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } } as const;

const HELLO = { role: "user", content: "Hello" } as const;

interface Case {
  readonly title: string;
  readonly chat: Partial<CreateChatCompletionRequest>;
  readonly request: Partial<CreateResponseRequest>;
}

const WEATHER = { name: "weather", description: "Tells it.", parameters: { type: "object", properties: {} } };

const CASES: readonly Case[] = [
  {
    title: "the newer name of the limit wins",
    chat: { max_tokens: 50, max_completion_tokens: 70 },
    request: { max_output_tokens: 70 },
  },
  { title: "the older name of the limit", chat: { max_tokens: 50 }, request: { max_output_tokens: 50 } },
  {
    title: "effort, verbosity and a schema",
    chat: {
      reasoning_effort: "low",
      verbosity: "high",
      response_format: { type: "json_schema", json_schema: { name: "place", schema: { type: "object" } } },
    },
    request: {
      reasoning: { effort: "low" },
      text: {
        verbosity: "high",
        format: { type: "json_schema", name: "place", schema: { type: "object" }, strict: false },
      },
    },
  },
  {
    title: "log probabilities without alternatives",
    chat: { logprobs: true },
    request: { include: ["message.output_text.logprobs"], top_logprobs: 0 },
  },
  {
    title: "a function is not strict unless it says so",
    chat: {
      tools: [{ type: "function", function: WEATHER }],
      tool_choice: { type: "function", function: { name: "weather" } },
    },
    request: {
      tools: [{ type: "function", ...WEATHER, strict: false }],
      tool_choice: { type: "function", name: "weather" },
    },
  },
  {
    title: "the deprecated functions",
    chat: { functions: [{ ...WEATHER, strict: true }], function_call: { name: "weather" } },
    request: {
      tools: [{ type: "function", ...WEATHER, strict: true }],
      tool_choice: { type: "function", name: "weather" },
      parallel_tool_calls: false,
    },
  },
  {
    title: "a custom tool with a grammar, among allowed tools",
    chat: {
      tools: [
        {
          type: "custom",
          custom: { name: "sql", format: { type: "grammar", grammar: { definition: "a", syntax: "lark" } } },
        },
      ],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "custom", custom: { name: "sql" } }] },
      },
    },
    request: {
      tools: [{ type: "custom", name: "sql", format: { type: "grammar", definition: "a", syntax: "lark" } }],
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "custom", name: "sql" }] },
    },
  },
  {
    title: "web search by its options",
    chat: {
      web_search_options: {
        search_context_size: "low",
        user_location: { type: "approximate", approximate: { city: "Ulm" } },
      },
    },
    request: {
      include: HOSTED_INCLUDE,
      tools: [{ type: "web_search", search_context_size: "low", user_location: { type: "approximate", city: "Ulm" } }],
    },
  },
  {
    title: "a tool of this server beside a function",
    chat: { tools: [{ type: "web_search" }, { type: "function", function: WEATHER }] },
    request: {
      include: HOSTED_INCLUDE,
      tools: [{ type: "web_search" }, { type: "function", ...WEATHER, strict: false }],
    },
  },
  { title: "a choice without tools is no choice", chat: { tool_choice: "auto" }, request: {} },
  { title: "a tier of another provider is none", chat: { service_tier: "standard_only" }, request: {} },
  {
    title: "parts of a message",
    chat: {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See" },
            { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
            { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            { type: "file", file: { file_id: "file-1" } },
          ],
        },
      ],
    },
    request: {
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "See" },
            { type: "input_image", image_url: "https://example.com/a.png", detail: "low" },
            { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            { type: "input_file", file_id: "file-1" },
          ],
        },
      ],
    },
  },
  {
    title: "an answer with reasoning and calls, and their outputs",
    chat: {
      messages: [
        { role: "system", content: "Be brief." },
        HELLO,
        {
          role: "assistant",
          content: "I look.",
          reasoning_content: "Hm.",
          reasoning: "Hm.",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } },
            { id: "call_2", type: "custom", custom: { name: "sql", input: "select 1" } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "Sun" },
        { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "1" }] },
      ],
    },
    request: {
      input: [
        { type: "message", role: "system", content: "Be brief." },
        { type: "message", ...HELLO },
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
        { type: "custom_tool_call", call_id: "call_2", name: "sql", input: "select 1" },
        { type: "function_call_output", call_id: "call_1", output: "Sun" },
        { type: "custom_tool_call_output", call_id: "call_2", output: [{ type: "input_text", text: "1" }] },
      ],
    },
  },
  {
    title: "the deprecated call and its output",
    chat: {
      messages: [
        HELLO,
        { role: "assistant", content: null, function_call: { name: "weather", arguments: "{}" } },
        { role: "function", name: "weather", content: "Sun" },
      ],
    },
    request: {
      input: [
        { type: "message", ...HELLO },
        { type: "function_call", call_id: "call_0", name: "weather", arguments: "{}" },
        { type: "function_call_output", call_id: "call_0", output: "Sun" },
      ],
    },
  },
  {
    title: "an answer with what tools of this server did is what it was",
    chat: { messages: [HELLO, { role: "assistant", content: "I look.", tool_calls: [CALLED], hosted_items: HOSTED }] },
    request: { input: [{ type: "message", ...HELLO }, SEARCH, ANSWER, CALL] },
  },
  {
    title: "what tools of this server did comes before an answer that its client changed",
    chat: { messages: [HELLO, { role: "assistant", content: "I look again.", hosted_items: HOSTED }] },
    request: {
      input: [
        { type: "message", ...HELLO },
        SEARCH,
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look again." }] },
      ],
    },
  },
  {
    title: "items sealed by another server are left out",
    chat: { messages: [HELLO, { role: "assistant", content: "I look.", hosted_items: "another's" }] },
    request: {
      input: [
        { type: "message", ...HELLO },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      ],
    },
  },
  {
    title: "the model reads what was spoken",
    chat: { messages: [HELLO, { role: "assistant", audio: { id: "audio_transcript:Tide turns." } }] },
    request: {
      input: [
        { type: "message", ...HELLO },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Tide turns." }] },
      ],
    },
  },
  {
    title: "a spoken answer",
    chat: { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } },
    request: { output_audio: { voice: "alloy", format: "wav" } },
  },
  {
    title: "a refusal",
    chat: { messages: [HELLO, { role: "assistant", content: null, refusal: "No." }, HELLO] },
    request: {
      input: [
        { type: "message", ...HELLO },
        { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
        { type: "message", ...HELLO },
      ],
    },
  },
];

test.each(CASES)("a chat becomes a create request: $title", ({ chat, request }) => {
  const body: CreateChatCompletionRequest = { model: "m", messages: [HELLO], ...chat };
  expect(validateCreateChatCompletionRequest(body), JSON.stringify(validateCreateChatCompletionRequest.errors)).toBe(
    true,
  );
  const created = createRequest(body, seal);
  expect(created).toEqual({
    model: "m",
    input: [{ type: "message", ...HELLO }],
    store: false,
    stream_options: { include_obfuscation: false },
    ...request,
  });
  expect(validateCreateResponseRequest(created), JSON.stringify(validateCreateResponseRequest.errors)).toBe(true);
});

test("settings that only model servers know are sent on, and are told apart from those that the reference has", () => {
  const body = { model: "m", messages: [HELLO], seed: 7, stop: ["END", ""], top_k: 40, min_p: null, n: 1, user: "u" };
  expect(modelExtras(body)).toEqual({
    standard: { seed: 7, stop: ["END", ""] },
    unknown: { top_k: 40 },
    stop: ["END"],
  });
  expect(modelExtras({ model: "m", messages: [HELLO], temperature: 1 })).toBeNull();
});
