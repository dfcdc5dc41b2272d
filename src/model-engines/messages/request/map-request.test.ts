import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { sealedRedaction, sealedSignature } from "../sealed-thinking.ts";
import { mapToMessages } from "./map-request.ts";
import { notesOnMessages } from "./notes-on-messages.ts";
import { ModelForms, type RequestForms } from "./request-forms.ts";

verifies("messages-engine.request.every-member-has-a-place", "create.ledger.nothing-dropped-in-silence");

const FIRST = new ModelForms().of("m");
const PLAIN = { ...FIRST, cacheMarks: false };
const PIXEL = "data:image/png;base64,iVBORw0=";

const bodyOf = async (changes: Partial<ModelRequest>, forms: Partial<RequestForms> = {}) =>
  (await mapToMessages(aRequest(changes), { ...PLAIN, ...forms })).body;

/** Checks the turns that these items become. */
async function check(items: readonly ContextItem[], expected: readonly unknown[]): Promise<void> {
  expect((await bodyOf({ items })).messages).toEqual(expected);
}

/** Checks the members of a request besides those that every request has. */
async function checkMembers(
  changes: Partial<ModelRequest>,
  expected: object,
  forms: Partial<RequestForms> = {},
): Promise<void> {
  const { model: _model, messages: _messages, stream: _stream, ...members } = await bodyOf(changes, forms);
  expect(members).toEqual({ max_tokens: 32_000, ...expected });
}

type Message = Extract<InputItem, { role: unknown; content: unknown }>;

const user = (content: Message["content"]): InputItem => ({
  type: "message",
  role: "user",
  content,
});
const assistant = (text: string): InputItem => ({ type: "message", role: "assistant", content: text });
const call = (id: string, args = "{}"): InputItem => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: args,
});
const output = (id: string, value: Extract<InputItem, { type: "function_call_output" }>["output"]): InputItem => ({
  type: "function_call_output",
  call_id: id,
  output: value,
});
const text = (value: string) => ({ type: "text", text: value });
const says = (...texts: string[]) => ({ role: "user", content: texts.map(text) });
const answers = (...content: unknown[]) => ({ role: "assistant", content });
const GO_ON = says("Continue.");

describe("turns", () => {
  test("of one role that follow each other are one", () =>
    check(
      [user("One."), user("Two."), assistant("A."), assistant("B."), user("Three.")],
      [says("One.", "Two."), answers(text("A."), text("B.")), says("Three.")],
    ));
  test("begin and end with the user", () => check([assistant("Hello.")], [GO_ON, answers(text("Hello.")), GO_ON]));
  test("without a text are left out", () => check([user(" "), assistant("")], [GO_ON]));
  test("show pictures and files", () =>
    check(
      [
        user([
          { type: "input_text", text: "See" },
          { type: "input_image", image_url: PIXEL, detail: "auto" },
          { type: "input_image", image_url: "https://pictures.test/a.png", detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
          { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,SGk=" },
        ]),
      ],
      [
        {
          role: "user",
          content: [
            text("See"),
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0=" } },
            { type: "image", source: { type: "url", url: "https://pictures.test/a.png" } },
            {
              type: "document",
              title: "a.pdf",
              source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
            },
            text("File a.txt:\nHi"),
          ],
        },
      ],
    ));
});

describe("system messages", () => {
  test("before the first turn join the instructions", async () => {
    const items: InputItem[] = [{ type: "message", role: "developer", content: "Be kind." }, user("Hi")];
    const body = await bodyOf({ instructions: "Be brief.", items });
    expect(body.system).toEqual([text("Be brief."), text("Be kind.")]);
    expect(body.messages).toEqual([says("Hi")]);
  });
  test("within the conversation are texts of the user", () =>
    check(
      [user("Hi"), assistant("Hello."), { type: "message", role: "system", content: "It is noon." }, user("So?")],
      [says("Hi"), answers(text("Hello.")), says("<system>\nIt is noon.\n</system>", "So?")],
    ));
});

describe("calls", () => {
  const use = (id: string, input: object) => ({ type: "tool_use", id, name: "look", input });
  const result = (id: string, content: unknown) => ({ type: "tool_result", tool_use_id: id, content });

  test("stand in the answer, and their results first in the turn of the user", () =>
    check(
      [
        user("Look"),
        assistant("I look."),
        call("a", '{"at":1}'),
        call("b"),
        output("b", "B"),
        output("a", "A"),
        user("So?"),
      ],
      [
        says("Look"),
        answers(text("I look."), use("a", { at: 1 }), use("b", {})),
        { role: "user", content: [result("a", "A"), result("b", "B"), text("So?")] },
      ],
    ));
  test("may return pictures", () =>
    check(
      [
        call("a"),
        output("a", [
          { type: "input_text", text: "Look:" },
          { type: "input_image", image_url: PIXEL, detail: "auto" },
        ]),
      ],
      [
        GO_ON,
        answers(use("a", {})),
        {
          role: "user",
          content: [
            result("a", [
              text("Look:"),
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0=" } },
            ]),
          ],
        },
      ],
    ));
  test("with arguments that are no object are shown as they are", () =>
    check(
      [call("a", "{at:"), output("a", "No.")],
      [GO_ON, answers(use("a", { INVALID_JSON: "{at:" })), { role: "user", content: [result("a", "No.")] }],
    ));
  test("have ids of their own, in characters that the API takes", async () => {
    const { messages } = await bodyOf({
      items: [call("a b"), output("a b", "1"), user("Again"), call("a b"), output("a b", "2")],
    });
    const ids = messages.flatMap(({ content }) => content.flatMap((block) => ("id" in block ? [block.id] : [])));
    const answered = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(answered).toEqual(ids);
  });
  test("without an output are refused", async () => {
    await expect(bodyOf({ items: [call("a")] })).rejects.toThrow("No tool output found for function call a.");
    await expect(bodyOf({ items: [output("a", "A")] })).rejects.toThrow("No tool call found");
  });
  test("need their tools, even if none is offered any more", () =>
    checkMembers(
      { items: [call("a"), output("a", "A")] },
      {
        tools: [{ name: "look", description: "No longer available.", input_schema: { type: "object" } }],
        tool_choice: { type: "none" },
      },
    ));
  test("of custom tools and of this server's tools have the names that are offered", async () => {
    const body = await bodyOf({
      tools: [
        { type: "custom", name: "run", description: "Runs it.", format: { type: "text" }, defer_loading: false },
        { type: "hosted_function", name: "find", server: "sea", description: "", parameters: { type: "object" } },
      ],
      items: [
        { type: "custom_tool_call", call_id: "c", name: "run", input: "ls" },
        { type: "custom_tool_call_output", call_id: "c", output: "a" },
        { type: "hosted_call", callId: "h", name: "find", server: "sea", arguments: '{"q":"x"}' },
        { type: "hosted_output", callId: "h", output: "found", parts: [] },
      ],
    });
    expect(body.tools?.map(({ name }) => name)).toEqual(["run", "sea__find"]);
    expect(body.messages).toMatchObject([
      GO_ON,
      answers({ type: "tool_use", name: "run", input: { input: "ls" } }),
      { role: "user", content: [result("c", "a")] },
      answers({ type: "tool_use", name: "sea__find", input: { q: "x" } }),
      { role: "user", content: [result("h", "found")] },
    ]);
  });
});

describe("thinking", () => {
  verifies("messages-engine.thinking.comes-back-to-the-letter");
  const thought = (content: string, seal: object): ContextItem => ({
    type: "reasoning",
    summary: [],
    content: content === "" ? [] : [{ type: "reasoning_text", text: content }],
    ...seal,
  });

  test("comes back with its signature, before what follows it", () =>
    check(
      [
        user("Hi"),
        thought(" Hm.\n", { encrypted_content: sealedSignature("sig+/=") }),
        thought("", { encrypted_content: sealedRedaction("data") }),
        call("a"),
        output("a", "A"),
      ],
      [
        says("Hi"),
        answers(
          { type: "thinking", thinking: " Hm.\n", signature: "sig+/=" },
          { type: "redacted_thinking", data: "data" },
          { type: "tool_use", id: "a", name: "look", input: {} },
        ),
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "A" }] },
      ],
    ));
  test("with nothing behind it is left out, and so is that of other servers", () =>
    check(
      [
        user("Hi"),
        thought("Other.", {}),
        thought("Other.", { encrypted_content: "another server\nid\nx" }),
        assistant("Hello."),
        thought("Late.", { encrypted_content: sealedSignature("s") }),
        user("So?"),
      ],
      [says("Hi"), answers(text("Hello.")), says("So?")],
    ));
  test("is left out where the server does not know it any more", async () => {
    const items = [thought("Hm.", { encrypted_content: sealedSignature("s") }), assistant("Hello."), user("So?")];
    expect((await bodyOf({ items }, { keepsThinking: false })).messages).toEqual([
      GO_ON,
      answers(text("Hello.")),
      says("So?"),
    ]);
  });
});

describe("efforts", () => {
  test.each<[string, object, object]>([
    ["minimal", { type: "enabled", budget_tokens: 1_024 }, { effort: "low" }],
    ["low", { type: "enabled", budget_tokens: 2_048 }, { effort: "low" }],
    ["medium", { type: "enabled", budget_tokens: 8_192 }, { effort: "medium" }],
    ["high", { type: "enabled", budget_tokens: 16_384 }, { effort: "high" }],
    ["xhigh", { type: "enabled", budget_tokens: 24_576 }, { effort: "xhigh" }],
    ["max", { type: "enabled", budget_tokens: 30_976 }, { effort: "max" }],
  ])("%s", async (effort, budget, words) => {
    const reasoning = { effort, summary: null };
    const adaptive = { type: "adaptive", display: "summarized" };
    await checkMembers({ reasoning }, { thinking: adaptive, output_config: words });
    await checkMembers({ reasoning }, { thinking: budget }, { thinking: "budget", effort: false });
    await checkMembers({ reasoning }, { output_config: words }, { thinking: "off" });
  });
  test("none disables thinking, and no effort leaves it to the model", async () => {
    await checkMembers({ reasoning: { effort: "none", summary: null } }, { thinking: { type: "disabled" } });
    await checkMembers({ reasoning: { effort: null, summary: null } }, {});
    await checkMembers(
      { reasoning: { effort: null, summary: "auto" } },
      { thinking: { type: "adaptive", display: "summarized" } },
    );
  });
  test("leave room for an answer, or do not think", async () => {
    const reasoning = { effort: "high", summary: null };
    const forms = { thinking: "budget", effort: false } as const;
    await checkMembers(
      { reasoning, maxOutputTokens: 3_000 },
      { max_tokens: 3_000, thinking: { type: "enabled", budget_tokens: 1_976 } },
      forms,
    );
    await checkMembers({ reasoning, maxOutputTokens: 2_000 }, { max_tokens: 2_000 }, forms);
  });
});

describe("tools", () => {
  const tool = (name: string, strict = false): ModelRequest["tools"][number] => ({
    type: "function",
    name,
    description: "Looks.",
    parameters: { type: "object", properties: {} },
    output_schema: null,
    strict,
    defer_loading: false,
  });
  const offered = (name: string, more: object = {}) => ({
    name,
    description: "Looks.",
    input_schema: { type: "object", properties: {} },
    ...more,
  });
  const tools = [tool("a", true), tool("b")];

  test.each<[string, Partial<ModelRequest>, object]>([
    ["auto", {}, {}],
    ["one at a time", { parallelToolCalls: false }, { tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
    ["required", { toolChoice: "required" }, { tool_choice: { type: "any" } }],
    ["none", { toolChoice: "none", parallelToolCalls: false }, { tool_choice: { type: "none" } }],
    [
      "one by name",
      { toolChoice: { type: "function", name: "b" }, parallelToolCalls: false },
      { tool_choice: { type: "tool", name: "b", disable_parallel_tool_use: true } },
    ],
  ])("chosen: %s", (_name, changes, expected) =>
    checkMembers({ tools, ...changes }, { tools: [offered("a", { strict: true }), offered("b")], ...expected }),
  );
  test("that are not allowed are left out", () =>
    checkMembers(
      { tools, toolChoice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "b" }] } },
      { tools: [offered("b")], tool_choice: { type: "any" } },
    ));
  test("are not strict for models that do not know that", () =>
    checkMembers({ tools }, { tools: [offered("a"), offered("b")] }, { strict: false }));
  test("that must be called leave no room for thinking", () =>
    checkMembers(
      { tools, toolChoice: "required", reasoning: { effort: "high", summary: null } },
      {
        tools: [offered("a", { strict: true }), offered("b")],
        tool_choice: { type: "any" },
        output_config: { effort: "high" },
      },
    ));
});

describe("settings", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const format = { type: "json_schema", name: "x", description: null, schema, strict: true } as const;

  test("map to those of the API", () =>
    checkMembers(
      {
        maxOutputTokens: 50,
        temperature: 0.5,
        user: "u1",
        text: { format, verbosity: null },
        extras: { standard: { stop: ["END"] }, unknown: { top_k: 4 }, stop: ["END", " \n"] },
      },
      {
        max_tokens: 50,
        temperature: 0.5,
        top_k: 4,
        metadata: { user_id: "u1" },
        output_config: { format: { type: "json_schema", schema } },
        stop_sequences: ["END"],
      },
    ));
  test("are in words where the API has none for them", async () => {
    const words = await bodyOf({ instructions: "Hi.", text: { format, verbosity: null } }, { schema: "words" });
    expect(words.system).toEqual([text("Hi."), text(expect.stringContaining(JSON.stringify(schema)))]);
    expect(words).not.toHaveProperty("output_config");
    expect((await bodyOf({ text: { format: { type: "json_object" }, verbosity: null } })).system).toMatchObject([
      { type: "text" },
    ]);
  });
  test("that only a model without thinking takes are left out beside it", async () => {
    const reasoning = { effort: "low", summary: null };
    const extras = { standard: {}, unknown: { top_k: 4 }, stop: [] };
    const body = await bodyOf({ temperature: 1, topP: 0.9, extras, reasoning });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(["temperature"]));
    expect(body.top_p ?? body.top_k).toBeUndefined();
  });
  test("that are out of its range are moved into it", () =>
    checkMembers({ temperature: 1.5, topP: 0.9 }, { temperature: 1 }));
});

test("marks for the cache stand behind what the next request repeats", async () => {
  verifies("messages-engine.cache.marks");
  const items = [user("1"), assistant("A"), user("2"), assistant("B"), user("3"), user("4")];
  const tools = [
    { type: "custom", name: "run", description: "", format: { type: "text" }, defer_loading: false },
  ] as const;
  const body = await bodyOf({ instructions: "Hi.", items, tools }, { cacheMarks: true });
  const marked = JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}').length - 1;
  expect(marked).toBe(4);
  const mark = { cache_control: { type: "ephemeral" } };
  expect(body.system?.at(-1)).toMatchObject(mark);
  expect(body.tools?.at(-1)).toMatchObject(mark);
  expect(body.messages.map(({ content }) => content.map((block) => "cache_control" in block))).toEqual([
    [false],
    [false],
    [true],
    [false],
    [false, true],
  ]);
});

describe("notes", () => {
  const noted = (changes: Partial<ModelRequest>, forms: Partial<RequestForms> = {}) =>
    notesOnMessages(aRequest(changes), { ...FIRST, ...forms }).map(({ kind, what }) => `${kind} ${what}`);

  test.each<[string, Partial<ModelRequest>, readonly string[]]>([
    ["a plain request", { temperature: 0.5, serviceTier: "auto", maxOutputTokens: 5 }, []],
    [
      "members without a place",
      { presencePenalty: 1, frequencyPenalty: 1, topLogprobs: 0, promptCacheKey: "k", serviceTier: "flex" },
      ["presence_penalty", "frequency_penalty", "top_logprobs", "prompt_cache_key", "service_tier"].map(
        (what) => `omitted ${what}`,
      ),
    ],
    [
      "members of chat completions",
      { extras: { standard: { seed: 1, stop: ["x"], logit_bias: {} }, unknown: { top_k: 1, min_p: 1 }, stop: ["x"] } },
      ["omitted seed", "omitted logit_bias", "omitted min_p"],
    ],
    [
      "a temperature beside thinking",
      { temperature: 0, topP: 1, reasoning: { effort: "low", summary: null } },
      ["omitted temperature", "omitted top_p"],
    ],
    ["a high temperature and top_p", { temperature: 2, topP: 1 }, ["emulated temperature", "omitted top_p"]],
    [
      "any JSON",
      { text: { format: { type: "json_object" }, verbosity: "low" } },
      ["omitted text.verbosity", "emulated text.format"],
    ],
    ["reasoning of another server", { items: [{ type: "reasoning", summary: [] }] }, ["omitted input"]],
    ["the least effort", { reasoning: { effort: "minimal", summary: null } }, ["emulated reasoning.effort"]],
  ])("on %s", (_name, changes, expected) => expect(noted(changes)).toEqual(expected));

  test("on what a model does not know", () => {
    const reasoning = { effort: "low", summary: null };
    expect(noted({ reasoning, temperature: 1 }, { thinking: "off", sampling: false })).toEqual([
      "omitted temperature",
      "omitted reasoning",
    ]);
  });
});
