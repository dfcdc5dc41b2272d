import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { writeSealedText } from "../sealed-text.ts";
import { mapResponsesRequest, type RequestForm } from "./map-responses-request.ts";
import { notesOnResponsesRequest } from "./notes-on-responses-request.ts";

const LOCAL: RequestForm = { server: "here", isReference: false, asksForSeals: true, sendsSeals: true };
const OPENAI: RequestForm = { ...LOCAL, isReference: true };
const PLAIN = {
  model: "m",
  input: [{ role: "user", content: "Hi" }],
  stream: true,
  store: false,
  include: ["reasoning.encrypted_content"],
};

const map = async (changes: Partial<ModelRequest>, form = LOCAL): Promise<object> =>
  (await mapResponsesRequest(aRequest(changes), form)).body;

/** Compares the members that a request has beside those of the plainest one. */
async function check(changes: Partial<ModelRequest>, members: object, form = LOCAL): Promise<void> {
  expect(await map(changes, form)).toEqual({ ...PLAIN, ...members });
}

async function checkItems(items: readonly ContextItem[], input: readonly object[], form = LOCAL): Promise<void> {
  await check({ items }, { input }, form);
}

async function checkRefused(changes: Partial<ModelRequest>, members: object): Promise<void> {
  const outcome: unknown = await map(changes).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ModelError);
  expect(outcome).toMatchObject({ status: 400, ...members });
}

const user = (content: string): ContextItem => ({ type: "message", role: "user", content });
const FUNCTION = {
  type: "function",
  name: "roll",
  description: "Rolls.",
  strict: true,
  parameters: { type: "object" },
  output_schema: null,
} as const;
const GRAMMAR = { type: "grammar", syntax: "lark", definition: 'start: "a"' } as const;
const CUSTOM = { type: "custom", name: "patch", format: GRAMMAR } as const;
const HOSTED = {
  type: "hosted_function",
  name: "search",
  server: "sea",
  description: "",
  parameters: { type: "object" },
} as const;
const NAMESPACE: ModelRequest["tools"][number] = {
  type: "namespace",
  name: "dice",
  description: "Dice.",
  tools: [FUNCTION, CUSTOM],
};

describe("the request", () => {
  test("streams, stores nothing and asks for encrypted reasoning; metadata is not sent", async () => {
    verifies("responses-engine.upstream.stores-nothing");
    await check({ metadata: { secret: "x" } }, {});
  });

  test("has the settings of the turn", async () => {
    await check(
      {
        instructions: "Be kind.",
        maxOutputTokens: 9,
        temperature: 1,
        topP: 0.5,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        topLogprobs: 2,
        user: "u",
        promptCacheKey: "k",
        serviceTier: "flex",
        reasoning: { effort: "low", summary: "auto" },
      },
      {
        instructions: "Be kind.",
        max_output_tokens: 9,
        temperature: 1,
        top_p: 0.5,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        top_logprobs: 2,
        include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
        user: "u",
        prompt_cache_key: "k",
        service_tier: "flex",
        reasoning: { effort: "low", summary: "auto" },
      },
    );
  });

  test("leaves out defaults, which some servers refuse", async () => {
    await check(
      { serviceTier: "auto", presencePenalty: 0, frequencyPenalty: 0, topLogprobs: 0 },
      {
        include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      },
    );
    expect(await map({}, { ...LOCAL, asksForSeals: false })).not.toHaveProperty("include");
  });

  test("has the format and the verbosity of the text", async () => {
    const schema = { type: "object" };
    const format = { type: "json_schema", name: "n", schema, strict: null, description: null } as const;
    await check(
      { text: { format, verbosity: "low" } },
      { text: { format: { type: "json_schema", name: "n", schema }, verbosity: "low" } },
    );
    await check(
      { text: { format: { type: "json_object" }, verbosity: "medium" } },
      { text: { format: { type: "json_object" } } },
    );
  });

  test("has members that only some servers know, but not for the reference, which is noted", async () => {
    const extras = { standard: { seed: 1, stop: ["a"] }, unknown: { top_k: 5, model: "other" }, stop: ["a"] };
    await check({ extras }, { seed: 1, top_k: 5 });
    await check({ extras: { ...extras, unknown: {} } }, {}, OPENAI);
    const noted = (server: { isReference: boolean; lacksExtras: boolean }) =>
      notesOnResponsesRequest(aRequest({ extras }), { server: "here", ...server }).map(({ what }) => what);
    expect(noted({ isReference: false, lacksExtras: false })).toEqual([]);
    expect(noted({ isReference: true, lacksExtras: false })).toEqual(["top_k", "model", "seed"]);
    expect(noted({ isReference: false, lacksExtras: true })).toEqual(["top_k", "model", "seed"]);
  });
});

describe("items", () => {
  test("a message is its text, or its parts, without an id", async () => {
    await checkItems(
      [
        {
          type: "message",
          id: "msg_1",
          status: "completed",
          role: "developer",
          content: [{ type: "input_text", text: "Rule." }],
        },
        { type: "message", role: "system", content: "Other." },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "See" },
            { type: "input_image", image_url: "data:image/png;base64,AA", detail: "original" },
            { type: "input_image", image_url: "https://a.test/b.png" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
            { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
          ],
        },
        {
          type: "message",
          id: "msg_2",
          role: "assistant",
          phase: "commentary",
          content: [{ type: "output_text", text: "Hm." }],
        },
        {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "I" },
            { type: "refusal", refusal: "No." },
          ],
        },
      ],
      [
        { role: "developer", content: "Rule." },
        { role: "system", content: "Other." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "See" },
            { type: "input_image", image_url: "data:image/png;base64,AA", detail: "original" },
            { type: "input_image", image_url: "https://a.test/b.png", detail: "auto" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
            { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
          ],
        },
        { role: "assistant", content: "Hm.", phase: "commentary" },
        {
          role: "assistant",
          content: [
            { type: "output_text", text: "I", annotations: [] },
            { type: "refusal", refusal: "No." },
          ],
        },
      ],
    );
  });

  test("calls and outputs keep their kind, with flat names and call ids that are not too long", async () => {
    const long = `call_${"x".repeat(100)}`;
    const sent = await map({
      items: [
        { type: "function_call", id: "fc_1", call_id: "a", name: "roll", namespace: "dice", arguments: "" },
        { type: "custom_tool_call", call_id: "b", name: "patch", input: "+ a" },
        { type: "function_call", call_id: long, name: "roll", arguments: "{" },
        { type: "function_call_output", call_id: "a", output: "6" },
        { type: "custom_tool_call_output", call_id: "b", output: [{ type: "input_text", text: "Done." }] },
        {
          type: "function_call_output",
          call_id: long,
          output: [
            { type: "input_text", text: "x" },
            { type: "input_image", image_url: "data:,a" },
          ],
        },
      ],
    });
    const shortId = expect.stringMatching(/^call_[0-9a-f]{59}$/);
    expect(sent).toMatchObject({
      input: [
        { type: "function_call", call_id: "a", name: "dice__roll", arguments: "{}" },
        { type: "custom_tool_call", call_id: "b", name: "patch", input: "+ a" },
        { type: "function_call", call_id: shortId, name: "roll", arguments: '{"unreadable":"{"}' },
        { type: "function_call_output", call_id: "a", output: "6" },
        { type: "custom_tool_call_output", call_id: "b", output: "Done." },
        {
          type: "function_call_output",
          call_id: shortId,
          output: [
            { type: "input_text", text: "x" },
            { type: "input_image", image_url: "data:,a", detail: "auto" },
          ],
        },
      ],
    });
  });

  test("calls of this server's functions are calls of the functions that are offered", async () => {
    const items: readonly ContextItem[] = [
      { type: "hosted_call", callId: "a", name: "search", server: "sea", arguments: '{"q":1}' },
      { type: "hosted_output", callId: "a", output: "Found.", parts: [] },
      { type: "hosted_call", callId: "b", name: "search", server: "sea", arguments: "" },
      { type: "hosted_output", callId: "b", output: "See:", parts: [{ type: "input_image", image_url: "data:,a" }] },
    ];
    await check(
      { items, tools: [HOSTED] },
      {
        input: [
          { type: "function_call", call_id: "a", name: "sea__search", arguments: '{"q":1}' },
          { type: "function_call_output", call_id: "a", output: "Found." },
          { type: "function_call", call_id: "b", name: "sea__search", arguments: "{}" },
          {
            type: "function_call_output",
            call_id: "b",
            output: [
              { type: "input_text", text: "See:" },
              { type: "input_image", image_url: "data:,a", detail: "auto" },
            ],
          },
        ],
        tools: [{ type: "function", name: "sea__search", parameters: { type: "object" }, strict: false }],
        parallel_tool_calls: true,
      },
    );
  });

  test("items of other tools are calls with outputs, or sentences; a call without its output gets one", async () => {
    await checkItems(
      [
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "tides" } },
        { type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1", container_id: "c", outputs: null },
        {
          type: "tool_search_call",
          id: "ts_1",
          status: "completed",
          call_id: null,
          execution: "server",
          arguments: { q: 1 },
        },
      ],
      [
        { role: "assistant", content: '[Searched the web for "tides"]' },
        { type: "function_call", call_id: "ci_1", name: "code_interpreter", arguments: '{"code":"1"}' },
        { type: "function_call_output", call_id: "ci_1", output: "The outputs were not kept." },
        { type: "function_call", call_id: "tool_search", name: "tool_search", arguments: '{"q":1}' },
        { type: "function_call_output", call_id: "tool_search", output: "The tools that were found were not kept." },
      ],
    );
  });

  test("content that cannot be expressed is refused by its place", async () => {
    await checkRefused(
      { items: [{ type: "message", role: "user", content: [{ type: "refusal", refusal: "No." }] }] },
      { param: "input[0].content[0]" },
    );
    await checkRefused({ items: [user("Hi"), { type: "compaction", encrypted_content: "x" }] }, { param: "input[1]" });
    await checkRefused(
      {
        items: [
          {
            type: "message",
            role: "user",
            content: [
              { type: "input_image", file_id: "file_1" },
              { type: "input_text", text: "a" },
            ],
          },
        ],
      },
      { code: "unsupported_value" },
    );
  });
});

describe("reasoning", () => {
  const thought = (sealedText: string | null): ContextItem => ({
    type: "reasoning",
    id: "rs_ours",
    summary: [{ type: "summary_text", text: "Sum." }],
    content: [{ type: "reasoning_text", text: "Hm." }],
    encrypted_content: sealedText,
  });
  const answer: ContextItem = { type: "message", role: "assistant", content: "Yes." };
  const sentAnswer = { role: "assistant", content: "Yes." };
  const own = writeSealedText("here", { id: "rs_9", encryptedContent: "gA\nB" });
  const other = writeSealedText("there", { id: "rs_9", encryptedContent: "gA" });
  const sealed = {
    type: "reasoning",
    id: "rs_9",
    summary: [{ type: "summary_text" as const, text: "Sum." }],
    encrypted_content: "gA\nB",
  };
  const text = {
    type: "reasoning",
    id: "rs_ours",
    summary: [],
    content: [{ type: "reasoning_text", text: "Hm." }],
  };

  test("that the server encrypted goes back to it as it came, and to no other server", async () => {
    verifies("responses-engine.reasoning.comes-back");
    for (const form of [LOCAL, OPENAI]) await checkItems([thought(own), answer], [sealed, sentAnswer], form);
    await checkItems([thought(other), answer], [text, sentAnswer]);
    await checkItems([thought(other), answer], [sentAnswer], OPENAI);
    await checkItems([thought(own), answer], [text, sentAnswer], { ...LOCAL, sendsSeals: false });
  });

  test("is its text for servers that take it; that the reference is sent none is noted", async () => {
    await checkItems([thought(null), answer], [text, sentAnswer]);
    const { summary } = sealed;
    const summed = { type: "reasoning", id: "rs_sum", summary } as const;
    await checkItems([{ ...summed, summary: [...summary] }, answer], [summed, sentAnswer]);
    await checkItems([thought(null), answer], [sentAnswer], OPENAI);
    const noted = (item: ContextItem, isReference: boolean) =>
      notesOnResponsesRequest(aRequest({ items: [item] }), { server: "here", isReference, lacksExtras: false }).length;
    expect([noted(thought(null), true), noted(thought(own), true), noted(thought(null), false)]).toEqual([1, 0, 0]);
  });

  test("is left out where nothing of the model follows it", async () => {
    await checkItems([thought(own), user("Hi"), thought(own)], [{ role: "user", content: "Hi" }]);
    await checkItems([thought(own), thought(own), answer], [sealed, sealed, sentAnswer]);
  });
});

describe("tools", () => {
  const wireFunction = {
    type: "function",
    name: "roll",
    description: "Rolls.",
    parameters: { type: "object" },
    strict: true,
  };
  const wireCustom = { type: "custom", name: "patch", format: GRAMMAR };
  const tools = [wireFunction, wireCustom];
  const withTools = (toolChoice: ModelRequest["toolChoice"]) => ({
    tools: [FUNCTION, CUSTOM],
    toolChoice,
    parallelToolCalls: false,
  });

  test("functions and custom tools are sent as they are, members of a namespace under its name", async () => {
    await check(withTools("auto"), { tools, parallel_tool_calls: false });
    await check(
      { tools: [NAMESPACE, { type: "tool_search", description: null, execution: "client", parameters: null }] },
      {
        tools: [
          { ...wireFunction, name: "dice__roll", description: "Dice.\n\nRolls." },
          { ...wireCustom, name: "dice__patch", description: "Dice." },
          expect.objectContaining({ type: "function", name: "tool_search", strict: false }),
        ],
        parallel_tool_calls: true,
      },
    );
  });

  test.each<[ModelRequest["toolChoice"], object | string]>([
    ["required", "required"],
    ["none", "none"],
    [
      { type: "function", name: "roll" },
      { type: "function", name: "roll" },
    ],
    [
      { type: "custom", name: "patch" },
      { type: "custom", name: "patch" },
    ],
  ])("the choice %j is sent", (choice, sent) =>
    check(withTools(choice), { tools, tool_choice: sent, parallel_tool_calls: false }),
  );

  test("the choice of a function of this server is that of its name", () =>
    check(
      { tools: [HOSTED], toolChoice: { type: "hosted_function", name: "search", server: "sea" } },
      {
        tools: [{ type: "function", name: "sea__search", parameters: { type: "object" }, strict: false }],
        tool_choice: { type: "function", name: "sea__search" },
        parallel_tool_calls: true,
      },
    ));

  test("allowed tools are told to the reference; to other servers, the rest is not offered", async () => {
    const choice = { type: "allowed_tools", mode: "required", tools: [{ type: "custom", name: "patch" }] } as const;
    const toolChoice = { ...choice, tools: [...choice.tools] };
    await check(withTools(toolChoice), { tools, tool_choice: choice, parallel_tool_calls: false }, OPENAI);
    await check(withTools(toolChoice), { tools: [wireCustom], tool_choice: "required", parallel_tool_calls: false });
  });

  test("a choice of a tool that is not offered is refused", () =>
    checkRefused(withTools({ type: "function", name: "other" }), { param: "tool_choice" }));
});
