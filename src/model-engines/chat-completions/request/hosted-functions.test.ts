import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { transcript } from "../../model-server/reply/transcript.fixture.ts";
import { chooseProfile } from "../profile.ts";
import { ChunkReader } from "../reply/chunk-reader.ts";
import { mapRequest } from "./map-request.ts";

const PROFILE = { ...chooseProfile(new URL("http://127.0.0.1:11434/v1")), acceptsReasoning: true };

const PARAMETERS = { type: "object", properties: { q: { type: "string" } } };
const hosted = (name: string, server: string | null = null): HostedFunction => ({
  type: "hosted_function",
  name,
  server,
  description: `Does ${name}.`,
  parameters: PARAMETERS,
});
const SEARCH = hosted("web_search");
const ofClient = (name: string): ModelRequest["tools"][number] => ({
  type: "function",
  name,
  description: null,
  parameters: null,
  strict: null,
  output_schema: null,
});

const map = (changes: Partial<ModelRequest>) => mapRequest(aRequest(changes), PROFILE);
const namesOf = async (changes: Partial<ModelRequest>): Promise<readonly string[]> =>
  ((await map(changes)).body.tools ?? []).map((tool) => tool.function.name);

describe("a hosted function", () => {
  test("is offered like a function, under its plain name or that of its server and its own", async () => {
    const { body } = await map({ tools: [SEARCH, hosted("get tides!", "sea.live")] });
    expect(body.tools).toEqual([
      {
        type: "function",
        function: { name: "web_search", description: "Does web_search.", parameters: PARAMETERS },
      },
      {
        type: "function",
        function: { name: "sea_live__get_tides_", description: "Does get tides!.", parameters: PARAMETERS },
      },
    ]);
  });

  test("gives way to a tool of the client with the same name, wherever that stands", async () => {
    const [first, second] = await namesOf({ tools: [SEARCH, ofClient("web_search")] });
    expect(first).toBe("web_search");
    expect(second).toMatch(/^web_search_[0-9a-f]{8}$/);
  });

  test("is told apart from others that would get its name, each time alike", async () => {
    const namespace: ModelRequest["tools"][number] = {
      type: "namespace",
      name: "sea",
      description: "",
      tools: [
        { type: "function", name: "tides", description: null, parameters: null, strict: null, output_schema: null },
      ],
    };
    const tools = [hosted("tides", "sea"), hosted("a.b", "sea"), hosted("a:b", "sea"), hosted("a?b", "sea"), namespace];
    const names = await namesOf({ tools });
    expect(names[0]).toBe("sea__tides"); // The client's.
    expect(new Set(names).size).toBe(5);
    expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
    expect(await namesOf({ tools })).toEqual(names);
  });

  test("can be forced, alone or among those allowed", async () => {
    const tools = [SEARCH, hosted("tides", "sea"), hosted("tides", "river"), ofClient("tides")];
    const choice = { type: "hosted_function", name: "tides", server: "river" } as const;
    const { body: forced } = await map({ tools, toolChoice: choice });
    expect(forced.tool_choice).toEqual({ type: "function", function: { name: "river__tides" } });
    const { body: allowed } = await map({
      tools,
      toolChoice: {
        type: "allowed_tools",
        mode: "required",
        tools: [choice, { type: "hosted_function", name: "web_search", server: null }],
      },
    });
    expect(allowed.tools?.map((tool) => tool.function.name)).toEqual(["web_search", "river__tides"]);
    expect(allowed.tool_choice).toBe("required");
    await expect(map({ tools, toolChoice: { ...choice, server: "lake" } })).rejects.toMatchObject({
      message: "Tool choice 'tides' not found in 'tools' parameter.",
    });
  });
});

/** What the model's call of each offered function is read as. */
async function readCalls(tools: ModelRequest["tools"], calls: readonly (readonly [number, string])[]): Promise<string> {
  const { toolNames, body } = await map({ tools });
  const reader = new ChunkReader({ toolNames, reasoningTags: "leading", wantsLogprobs: false });
  for (const [index, args] of calls) {
    const name = body.tools?.[index]?.function.name;
    reader.read({
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: args } }],
          },
        },
      ],
    });
  }
  reader.read({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] });
  reader.finish();
  return transcript(reader.take());
}

test("calls are read back by kind, name and server, and no arguments are an empty object", async () => {
  const tools = [ofClient("web_search"), SEARCH, hosted("get tides!", "sea.live")];
  expect(
    await readCalls(tools, [
      [0, '{"q":"a"}'],
      [1, '{"q":"b"}'],
      [2, ""],
    ]),
  ).toBe('web_search#call_0({"q":"a"}) | @web_search#call_1({"q":"b"}) | @sea.live.get tides!#call_2({}) | stop');
});

const calls = (callId: string, name = "web_search", server: string | null = null, args = '{"q":"a"}'): ContextItem => ({
  type: "hosted_call",
  callId,
  name,
  server,
  arguments: args,
});
const returns = (callId: string, output: string, ...pictures: readonly string[]): ContextItem => ({
  type: "hosted_output",
  callId,
  output,
  parts: pictures.map((url) => ({ type: "input_image", image_url: url, detail: "auto" })),
});
const asks: ContextItem = { type: "message", role: "user", content: "Hi" };
const thinks = (text: string): ContextItem => ({
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text }],
});
const toolCall = (id: string, name: string, args = '{"q":"a"}') => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

async function messagesOf(items: readonly ContextItem[], tools: ModelRequest["tools"] = [SEARCH]) {
  return (await map({ items, tools })).body.messages;
}

describe("the history", () => {
  test("keeps the calls of one turn in one message, with its reasoning, and those of the next turn apart", async () => {
    const items = [
      asks,
      thinks("Two at once."),
      calls("call_1"),
      calls("call_2"),
      returns("call_1", "one"),
      returns("call_2", "two"),
      thinks("One more."),
      calls("call_3"),
      returns("call_3", "three"),
    ];
    expect(await messagesOf(items)).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        reasoning_content: "Two at once.",
        tool_calls: [toolCall("call_1", "web_search"), toolCall("call_2", "web_search")],
      },
      { role: "tool", tool_call_id: "call_1", content: "one" },
      { role: "tool", tool_call_id: "call_2", content: "two" },
      {
        role: "assistant",
        content: "",
        reasoning_content: "One more.",
        tool_calls: [toolCall("call_3", "web_search")],
      },
      { role: "tool", tool_call_id: "call_3", content: "three" },
    ]);
  });

  test("keeps calls of the client's functions in the message of their turn, wherever outputs stand", async () => {
    const items: readonly ContextItem[] = [
      asks,
      calls("call_1"),
      { type: "function_call", call_id: "call_2", name: "look_up", arguments: "{}" },
      returns("call_1", "one"),
      { type: "function_call_output", call_id: "call_2", output: "two" },
    ];
    expect(await messagesOf(items)).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        tool_calls: [toolCall("call_1", "web_search"), toolCall("call_2", "look_up", "{}")],
      },
      { role: "tool", tool_call_id: "call_1", content: "one" },
      { role: "tool", tool_call_id: "call_2", content: "two" },
    ]);
  });

  test("names a function as it is offered now, and one that is gone as it was", async () => {
    const items = [
      asks,
      calls("call_1"),
      returns("call_1", "a"),
      calls("call_2", "tides", "sea"),
      returns("call_2", ""),
    ];
    const tools = [ofClient("web_search"), SEARCH];
    const [, offered] = await namesOf({ tools });
    const named = (await messagesOf(items, tools)).flatMap((message) =>
      message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.function.name) : [],
    );
    expect(named).toEqual([offered, "sea__tides"]);
  });

  test("has arguments that any server can read", async () => {
    const items = [
      asks,
      calls("call_1", "web_search", null, '{"q": '),
      returns("call_1", "No JSON."),
      calls("call_2", "web_search", null, " "),
      returns("call_2", ""),
    ];
    const args = (await messagesOf(items)).flatMap((message) =>
      message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.function.arguments) : [],
    );
    expect(args).toEqual(['{"unreadable":"{\\"q\\": "}', "{}"]);
  });

  test("shows the last four pictures of outputs, each after its turn, and says where others stood", async () => {
    const items = [
      asks,
      calls("call_1"),
      returns("call_1", "old", "data:,1", "data:,2"),
      calls("call_2"),
      calls("call_3"),
      returns("call_2", "new", "data:,3"),
      returns("call_3", "", "data:,4", "data:,5"),
    ];
    const picture = (url: string) => ({ type: "image_url", image_url: { url } });
    const followed = "The pictures and files of this output follow in the next message.";
    expect((await messagesOf(items)).filter(({ role }) => role === "tool" || role === "user").slice(1)).toEqual([
      {
        role: "tool",
        tool_call_id: "call_1",
        content: `old\n[An older picture stood here. It is no longer shown.]\n${followed}`,
      },
      { role: "user", content: [{ type: "text", text: "Output of the tool call call_1:" }, picture("data:,2")] },
      { role: "tool", tool_call_id: "call_2", content: `new\n${followed}` },
      { role: "tool", tool_call_id: "call_3", content: followed },
      {
        role: "user",
        content: [
          { type: "text", text: "Output of the tool call call_2:" },
          picture("data:,3"),
          { type: "text", text: "Output of the tool call call_3:" },
          picture("data:,4"),
          picture("data:,5"),
        ],
      },
    ]);
  });

  test("refuses a call without its output", async () => {
    await expect(messagesOf([asks, calls("call_1")])).rejects.toMatchObject({
      message: "No tool output found for function call call_1.",
    });
  });
});
