import type { InputItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { type BackendProfile, chooseProfile } from "../profile.ts";
import { mapRequest } from "./map-request.ts";

verifies(
  "chat-engine.upstream.system-messages-merge",
  "chat-engine.upstream.images-and-files-map",
  "chat-engine.upstream.tool-history-maps",
  "chat-engine.upstream.json-schema-maps",
  "create.ledger.nothing-dropped-in-silence",
);

type Message = Extract<InputItem, { role: unknown; content: unknown }>;
type MessagePart = Exclude<Message["content"], string>[number];

const GENERIC = chooseProfile(new URL("http://127.0.0.1:11434/v1"));
const OPENAI = chooseProfile(new URL("https://api.openai.com/v1"));

const bodyOf = async (changes: Partial<ModelRequest>, profile: BackendProfile = GENERIC) =>
  (await mapRequest(aRequest(changes), profile)).body;

/** Checks the messages that the items become. */
async function check(
  items: ModelRequest["items"],
  expected: readonly unknown[],
  profile: BackendProfile = GENERIC,
): Promise<void> {
  expect((await bodyOf({ items }, profile)).messages).toEqual(expected);
}

/** Checks the fields of a request besides those that every request has. */
async function checkFields(
  changes: Partial<ModelRequest>,
  expected: Readonly<Record<string, unknown>>,
  profile: BackendProfile = GENERIC,
): Promise<void> {
  const {
    model: _model,
    messages: _messages,
    stream: _stream,
    stream_options: _options,
    ...fields
  } = await bodyOf(changes, profile);
  expect(fields).toEqual(expected);
}

async function checkRefused(
  changes: Partial<ModelRequest>,
  expected: Readonly<Record<string, unknown>>,
): Promise<void> {
  let outcome: unknown;
  try {
    outcome = await bodyOf(changes);
  } catch (error) {
    outcome = error;
  }
  expect(outcome).toBeInstanceOf(ModelError);
  expect(outcome).toMatchObject({ status: 400, type: "invalid_request_error", ...expected });
}

const user = (content: Message["content"]): InputItem => ({ type: "message", role: "user", content });
const call = (id: string, args = "{}"): InputItem => ({
  type: "function_call",
  call_id: id,
  name: "get_time",
  arguments: args,
});
const output = (id: string, text: string): InputItem => ({ type: "function_call_output", call_id: id, output: text });
const chatCall = (id: string, args = "{}", name = "get_time") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const PNG = "data:image/png;base64,iVBORw0KGgo=";

describe("instructions", () => {
  test("instructions and leading system and developer messages become one system message", async () => {
    const items: InputItem[] = [
      { type: "message", role: "developer", content: "B" },
      { type: "message", role: "system", content: [{ type: "input_text", text: "C" }] },
      user("Hi"),
    ];
    expect((await bodyOf({ instructions: "A", items })).messages).toEqual([
      { role: "system", content: "A\n\nB\n\nC" },
      { role: "user", content: "Hi" },
    ]);
  });
  test("later ones keep their place, with the role of the profile", async () => {
    const items: ModelRequest["items"] = [user("Hi"), { type: "message", role: "developer", content: "Be brief" }];
    await check(items, [
      { role: "user", content: "Hi" },
      { role: "system", content: "Be brief" },
    ]);
    await check(
      items,
      [
        { role: "user", content: "Hi" },
        { role: "user", content: "Be brief" },
      ],
      { ...GENERIC, lateSystemRole: "user" },
    );
  });
});

describe("user messages", () => {
  const says = (...content: MessagePart[]): InputItem => user(content);
  test("a single text becomes a string", () =>
    check([says({ type: "input_text", text: "Hi" })], [{ role: "user", content: "Hi" }]));
  test("images, audio and files become parts", async () => {
    const pdf = "data:application/pdf;base64,JVBERg==";
    const items = [
      says(
        { type: "input_text", text: "See" },
        { type: "input_image", image_url: PNG, detail: "auto" },
        { type: "input_image", image_url: "https://a.test/b.png", detail: "original" },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        { type: "input_file", file_data: pdf, filename: "a.pdf" },
        { type: "input_file", file_data: "data:text/markdown;charset=utf-8;base64,w6k=", filename: "a.md" },
      ),
    ];
    await check(items, [
      {
        role: "user",
        content: [
          { type: "text", text: "See" },
          { type: "image_url", image_url: { url: PNG } },
          { type: "image_url", image_url: { url: "https://a.test/b.png", detail: "high" } },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
          { type: "file", file: { filename: "a.pdf", file_data: pdf } },
          { type: "text", text: "File a.md:\né" },
        ],
      },
    ]);
  });
  const unreadable: readonly (readonly [string, MessagePart])[] = [
    ["a picture by id", { type: "input_image", file_id: "file_1", detail: "auto" }],
    ["a file by id", { type: "input_file", file_id: "file_1" }],
    ["a file by URL", { type: "input_file", file_url: "https://a.test/a.pdf" }],
    ["a file that is no data URL", { type: "input_file", file_data: "AAAA" }],
    ["sound without a known format", { type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } }],
  ];
  for (const [what, part] of unreadable) {
    test(`${what} is refused, and the error names the part`, () =>
      checkRefused({ items: [says(part)] }, { code: "unsupported_value", param: "input[0].content[0]" }));
  }
});

describe("assistant turns", () => {
  const says = (text: string): InputItem => ({
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  });
  const thinks = (text: string): InputItem => ({
    type: "reasoning",
    id: "rs_1",
    summary: [],
    content: [{ type: "reasoning_text", text }],
  });

  test("reasoning, text and calls of a turn become one message, followed by the outputs", async () => {
    await check(
      [
        user("Hi"),
        thinks("Hm"),
        says("Wait"),
        call("c1", '{"a":1}'),
        call("c2"),
        output("c1", "1"),
        output("c2", "2"),
        says("Done"),
      ],
      [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "Wait",
          reasoning_content: "Hm",
          tool_calls: [chatCall("c1", '{"a":1}'), chatCall("c2")],
        },
        { role: "tool", tool_call_id: "c1", content: "1" },
        { role: "tool", tool_call_id: "c2", content: "2" },
        { role: "assistant", content: "Done" },
      ],
    );
  });
  test("calls after an output become another message", async () => {
    await check(
      [user("Hi"), call("c1"), output("c1", "1"), call("c2"), output("c2", "2")],
      [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "", tool_calls: [chatCall("c1")] },
        { role: "tool", tool_call_id: "c1", content: "1" },
        { role: "assistant", content: "", tool_calls: [chatCall("c2")] },
        { role: "tool", tool_call_id: "c2", content: "2" },
      ],
    );
  });
  test("an output moves up to its call", async () => {
    await check(
      [call("c1"), user("And?"), output("c1", "1")],
      [
        { role: "assistant", content: "", tool_calls: [chatCall("c1")] },
        { role: "tool", tool_call_id: "c1", content: "1" },
        { role: "user", content: "And?" },
      ],
    );
  });
  test("a call id that is used again gets its own output", async () => {
    const { messages } = await bodyOf({
      items: [call("c1"), output("c1", "first"), user("Again"), call("c1"), output("c1", "second")],
    });
    expect(messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual([
      "first",
      "second",
    ]);
  });
  test("a refusal becomes text, and reasoning without text or calls is left out", async () => {
    await check(
      [{ type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No" }] }, thinks("Hm"), user("Hi")],
      [
        { role: "assistant", content: "No", reasoning_content: "Hm" },
        { role: "user", content: "Hi" },
      ],
    );
    await check([thinks("Hm"), user("Hi")], [{ role: "user", content: "Hi" }]);
  });
  test("the summary is sent if the reasoning text is missing", async () => {
    const item: InputItem = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "S" }] };
    await check([item, says("Hi")], [{ role: "assistant", content: "Hi", reasoning_content: "S" }]);
    await check([item, says("Hi")], [{ role: "assistant", content: "Hi" }], OPENAI);
  });
  test("a call without output and an output without call are refused", async () => {
    await checkRefused(
      { items: [call("c1")] },
      { param: "input", message: "No tool output found for function call c1." },
    );
    await checkRefused(
      { items: [output("c1", "1")] },
      { param: "input", message: "No tool call found for function call output with call_id c1." },
    );
  });
  test("images in a tool output follow in a user message", async () => {
    const shows: InputItem = {
      type: "function_call_output",
      call_id: "c1",
      output: [
        { type: "input_text", text: "Look" },
        { type: "input_image", image_url: PNG, detail: "low" },
      ],
    };
    await check(
      [call("c1"), call("c2"), shows, output("c2", "2")],
      [
        { role: "assistant", content: "", tool_calls: [chatCall("c1"), chatCall("c2")] },
        {
          role: "tool",
          tool_call_id: "c1",
          content: "Look\nThe pictures and files of this output follow in the next message.",
        },
        { role: "tool", tool_call_id: "c2", content: "2" },
        {
          role: "user",
          content: [
            { type: "text", text: "Output of the tool call c1:" },
            { type: "image_url", image_url: { url: PNG, detail: "low" } },
          ],
        },
      ],
    );
  });
  test("a custom call is wrapped, a namespaced call gets a flat name, and a long id is shortened in call and output", async () => {
    const id = "c".repeat(60);
    const { messages } = await bodyOf({
      items: [
        { type: "custom_tool_call", call_id: "c1", name: "patch", input: 'a"b' },
        { type: "custom_tool_call_output", call_id: "c1", output: "ok" },
        { type: "function_call", call_id: id, name: "search", namespace: "crm", arguments: "" },
        output(id, "none"),
      ],
    });
    expect(messages[0]).toEqual({
      role: "assistant",
      content: "",
      tool_calls: [chatCall("c1", '{"input":"a\\"b"}', "patch")],
    });
    expect(messages[2]).toMatchObject({
      tool_calls: [{ id: expect.stringMatching(/^call_.{35}$/), function: { name: "crm__search", arguments: "{}" } }],
    });
    expect(messages[3]).toMatchObject({ tool_call_id: expect.stringMatching(/^call_.{35}$/) });
  });
});

describe("items of hosted tools", () => {
  const pairs: readonly (readonly [ModelRequest["items"], string, string, string])[] = [
    [
      [{ type: "file_search_call", id: "fs_1", queries: ["q"], results: null }],
      "file_search",
      '{"queries":["q"]}',
      "The results were not kept.",
    ],
    [
      [
        {
          type: "code_interpreter_call",
          id: "ci_1",
          container_id: "c",
          code: "1+1",
          outputs: [{ type: "logs", logs: "2" }],
        },
      ],
      "code_interpreter",
      '{"code":"1+1"}',
      "2",
    ],
    [
      [{ type: "mcp_call", id: "mcp_1", server_label: "dm", name: "roll", arguments: '{"n":1}', output: "4" }],
      "dm__roll",
      '{"n":1}',
      "4",
    ],
    [
      [
        { type: "shell_call", call_id: "s1", action: { commands: ["ls"] } },
        {
          type: "shell_call_output",
          call_id: "s1",
          output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
        },
      ],
      "shell",
      '{"commands":["ls"]}',
      '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]',
    ],
    [
      [
        { type: "local_shell_call", id: "ls_1", call_id: "s1", action: { type: "exec", command: ["ls"], env: {} } },
        { type: "local_shell_call_output", id: "ls_1", output: "a" },
      ],
      "local_shell",
      '{"type":"exec","command":["ls"],"env":{}}',
      "a",
    ],
    [
      [
        { type: "apply_patch_call", call_id: "p1", operation: { type: "delete_file", path: "a" } },
        { type: "apply_patch_call_output", call_id: "p1", status: "completed" },
      ],
      "apply_patch",
      '{"type":"delete_file","path":"a"}',
      "completed",
    ],
    [
      [
        { type: "program", call_id: "p1", code: "x", fingerprint: "f" },
        { type: "program_output", call_id: "p1", result: "1" },
      ],
      "program",
      '{"code":"x"}',
      "1",
    ],
  ];
  for (const [items, name, args, result] of pairs) {
    test(`${items[0]?.type} becomes a call and its output`, async () => {
      const [assistant, tool] = (await bodyOf({ items })).messages;
      expect(assistant).toMatchObject({ role: "assistant", tool_calls: [{ function: { name, arguments: args } }] });
      expect(tool).toMatchObject({ role: "tool", content: result });
    });
  }
  test("a screenshot follows its computer call as an image", async () => {
    const items: ModelRequest["items"] = [
      { type: "computer_call", call_id: "c1", actions: [{ type: "screenshot" }] },
      { type: "computer_call_output", call_id: "c1", output: { type: "computer_screenshot", image_url: PNG } },
    ];
    expect((await bodyOf({ items })).messages.at(-1)).toMatchObject({
      role: "user",
      content: [{ type: "text" }, { type: "image_url", image_url: { url: PNG } }],
    });
  });
  const notes: readonly (readonly [InputItem, string])[] = [
    [{ type: "web_search_call", action: { type: "search", query: "cats" } }, '[Searched the web for "cats"]'],
    [
      { type: "web_search_call", action: { type: "open_page", url: "https://a.test" } },
      "[Opened the page https://a.test]",
    ],
    [{ type: "image_generation_call", revised_prompt: "a cat", result: "AAAA" }, '[Generated a picture for "a cat"]'],
    [
      { type: "mcp_list_tools", server_label: "dm", tools: [{ name: "roll", input_schema: {} }] },
      "[The MCP server dm offers: roll]",
    ],
    [
      { type: "mcp_approval_request", server_label: "dm", name: "roll", arguments: "{}" },
      "[Asked for approval to call roll of the MCP server dm with {}]",
    ],
  ];
  for (const [item, text] of notes) {
    test(`${item.type} becomes a sentence: ${text}`, () => check([item], [{ role: "assistant", content: text }]));
  }
  for (const item of [{ type: "compaction", encrypted_content: "x" }, { type: "compaction_trigger" }] as const) {
    test(`${item.type} is refused`, () => checkRefused({ items: [user("Hi"), item] }, { param: "input[1]" }));
  }
  test("reasoning that only another model server can read is left out", () =>
    check([{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }], []));
});

describe("tools", () => {
  const getTime: Extract<Tool, { type: "function" }> = {
    type: "function",
    name: "get_time",
    description: "Tells the time",
    parameters: { type: "object" },
    strict: true,
    output_schema: null,
  };
  const patch: Tool = {
    type: "custom",
    name: "patch",
    description: "Patches",
    format: { type: "grammar", syntax: "lark", definition: "start: /x/" },
  };
  const crm: Extract<Tool, { type: "namespace" }> = {
    type: "namespace",
    name: "crm",
    description: "Customers",
    tools: [{ ...getTime, name: "search", strict: null }],
  };
  const tools = [getTime, patch, crm];

  test("functions, custom tools and namespaces become functions", async () => {
    const { body, toolNames } = await mapRequest(aRequest({ tools }), GENERIC);
    expect(body.tools).toEqual([
      {
        type: "function",
        function: { name: "get_time", description: "Tells the time", parameters: { type: "object" }, strict: true },
      },
      {
        type: "function",
        function: {
          name: "patch",
          description: "Patches\n\nThe input must match this Lark grammar exactly:\nstart: /x/",
          parameters: expect.objectContaining({ required: ["input"] }),
        },
      },
      {
        type: "function",
        function: { name: "crm__search", description: "Customers\n\nTells the time", parameters: { type: "object" } },
      },
    ]);
    expect(toolNames.resolve("patch")).toEqual({ kind: "custom", name: "patch", namespace: null });
    expect(toolNames.resolve("crm__search")).toEqual({ kind: "function", name: "search", namespace: "crm" });
  });
  test("a client-run tool search becomes a function", async () => {
    const parameters = { type: "object", properties: { query: { type: "string" } } };
    const search: Tool = { type: "tool_search", execution: "client", description: "Finds tools", parameters };
    const { body, toolNames } = await mapRequest(aRequest({ tools: [search] }), GENERIC);
    expect(body.tools).toEqual([
      { type: "function", function: { name: "tool_search", description: "Finds tools", parameters } },
    ]);
    expect(toolNames.resolve("tool_search").kind).toBe("tool_search");
  });
  test("a flat name that is too long is shortened and can be translated back", async () => {
    const long = { ...crm, name: "n".repeat(60), tools: [{ ...getTime, name: "t".repeat(60) }] };
    const { body, toolNames } = await mapRequest(aRequest({ tools: [long] }), GENERIC);
    const name = body.tools?.[0]?.function.name ?? "";
    expect(name.length).toBe(64);
    expect(toolNames.resolve(name)).toEqual({ kind: "function", name: "t".repeat(60), namespace: "n".repeat(60) });
  });
  test("two tools with the same flat name get different names", async () => {
    const clash = [{ ...getTime, name: "crm__search" }, crm];
    const names = (await mapRequest(aRequest({ tools: clash }), GENERIC)).body.tools?.map((tool) => tool.function.name);
    expect(new Set(names).size).toBe(2);
  });
  test("a hosted tool is refused, and the error names its index", async () => {
    await checkRefused(
      { tools: [getTime, { type: "local_shell" }] },
      { code: "unsupported_parameter", param: "tools[1]" },
    );
  });
  test("a tool in a namespace of its own name keeps its name and is described once", async () => {
    const late: Tool = {
      type: "namespace",
      name: "late",
      description: "Comes late",
      tools: [{ ...getTime, name: "late" }],
    };
    const described = { ...late, tools: [{ ...getTime, name: "late", description: "Comes late" }] };
    const { body, toolNames } = await mapRequest(aRequest({ tools: [described] }), GENERIC);
    expect(body.tools?.map((tool) => tool.function)).toMatchObject([{ name: "late", description: "Comes late" }]);
    expect(toolNames.resolve("late")).toEqual({ kind: "function", name: "late", namespace: "late" });
    const both = await mapRequest(aRequest({ tools: [{ ...getTime, name: "late" }, late] }), GENERIC);
    const names = both.body.tools?.map((tool) => tool.function.name) ?? [];
    expect(names.map((name) => both.toolNames.resolve(name).namespace)).toEqual([null, "late"]);
  });
  const choices: readonly (readonly [ModelRequest["toolChoice"], unknown])[] = [
    ["none", "none"],
    ["auto", undefined],
    ["required", "required"],
    [
      { type: "function", name: "get_time" },
      { type: "function", function: { name: "get_time" } },
    ],
    [
      { type: "custom", name: "patch" },
      { type: "function", function: { name: "patch" } },
    ],
  ];
  for (const [choice, expected] of choices) {
    test(`tool_choice ${JSON.stringify(choice)} becomes ${JSON.stringify(expected)}`, async () =>
      expect((await bodyOf({ tools, toolChoice: choice })).tool_choice).toEqual(expected));
  }
  test("allowed_tools leaves the other tools out", async () => {
    const body = await bodyOf({
      tools,
      toolChoice: { type: "allowed_tools", mode: "required", tools: [{ type: "custom", name: "patch" }] },
    });
    expect(body.tools?.map((tool) => tool.function.name)).toEqual(["patch"]);
    expect(body.tool_choice).toBe("required");
  });
  test("tools of a namespace can be chosen by their own name, and allowed by the namespace", async () => {
    expect((await bodyOf({ tools, toolChoice: { type: "function", name: "search" } })).tool_choice).toEqual({
      type: "function",
      function: { name: "crm__search" },
    });
    const body = await bodyOf({
      tools,
      toolChoice: { type: "allowed_tools", mode: "auto", tools: [{ type: "namespace", name: "crm" }] },
    });
    expect(body.tools?.map((tool) => tool.function.name)).toEqual(["crm__search"]);
  });
  test("a choice of an unknown or hosted tool is refused", async () => {
    await checkRefused(
      { tools, toolChoice: { type: "function", name: "x" } },
      { param: "tool_choice", message: "Tool choice 'x' not found in 'tools' parameter." },
    );
    await checkRefused(
      { tools, toolChoice: { type: "web_search" } },
      { code: "unsupported_parameter", param: "tool_choice" },
    );
  });
  test("parallel_tool_calls is sent only with tools", async () => {
    expect((await bodyOf({ tools, parallelToolCalls: false })).parallel_tool_calls).toBe(false);
    expect((await bodyOf({ parallelToolCalls: false })).parallel_tool_calls).toBeUndefined();
  });
});

describe("settings", () => {
  test("a plain request has only the required fields", () => checkFields({}, {}));
  test("text formats and verbosity are mapped", async () => {
    const schema = { type: "object" };
    const format = { type: "json_schema", name: "n", schema, strict: true, description: "d" } as const;
    await checkFields(
      { text: { format, verbosity: "medium" } },
      { response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true, description: "d" } } },
    );
    await checkFields(
      { text: { format: { ...format, strict: null, description: null }, verbosity: "low" } },
      {
        response_format: { type: "json_schema", json_schema: { name: "n", schema } },
        verbosity: "low",
      },
    );
    await checkFields(
      { text: { format: { type: "json_object" }, verbosity: "medium" } },
      { response_format: { type: "json_object" } },
    );
  });
  test("sampling parameters are mapped", async () => {
    await checkFields(
      {
        temperature: 1,
        topP: 0.5,
        presencePenalty: 0.1,
        frequencyPenalty: 0,
        topLogprobs: 2,
        reasoning: { effort: "low", summary: "auto" },
        user: "u",
      },
      {
        temperature: 1,
        top_p: 0.5,
        presence_penalty: 0.1,
        logprobs: true,
        top_logprobs: 2,
        reasoning_effort: "low",
        user: "u",
      },
    );
    await checkFields({ topLogprobs: 0 }, { logprobs: true });
  });
  test("max_output_tokens gets the name that the server knows", async () => {
    await checkFields({ maxOutputTokens: 50 }, { max_tokens: 50 });
    await checkFields({ maxOutputTokens: 50 }, { max_completion_tokens: 50 }, OPENAI);
  });
  test("vendor fields go to their vendor only, and metadata is not sent", async () => {
    const changes = { serviceTier: "flex", promptCacheKey: "k", metadata: { a: "b" } };
    await checkFields(changes, {});
    await checkFields(changes, { service_tier: "flex", prompt_cache_key: "k" }, OPENAI);
  });
});
