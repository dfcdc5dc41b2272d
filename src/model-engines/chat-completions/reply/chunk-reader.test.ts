import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { ToolNames } from "../../context/tool-names.ts";
import { transcript } from "../../model-server/reply/transcript.fixture.ts";
import type { ReasoningTags } from "../profile.ts";
import { ChunkReader } from "./chunk-reader.ts";

verifies(
  "chat-engine.tools.parallel-deltas",
  "chat-engine.tools.text-and-call",
  "chat-engine.text.reasoning-kept-apart",
);

interface Options {
  readonly tags?: ReasoningTags;
  readonly wantsLogprobs?: boolean;
}

function play(chunks: readonly Readonly<Record<string, unknown>>[], options: Options = {}): ModelEvent[] {
  const toolNames = new ToolNames();
  for (const name of ["get_time", "get_weather"]) toolNames.add({ kind: "function", name, namespace: null });
  toolNames.add({ kind: "custom", name: "patch", namespace: null });
  toolNames.add({ kind: "tool_search", name: "tool_search", namespace: null });
  toolNames.add({ kind: "function", name: "search", namespace: "crm" });
  const reader = new ChunkReader({
    toolNames,
    reasoningTags: options.tags ?? "leading",
    wantsLogprobs: options.wantsLogprobs ?? false,
  });
  for (const chunk of chunks) reader.read(chunk);
  reader.finish();
  return reader.take();
}

/** A chunk with one delta. */
const delta = (members: Readonly<Record<string, unknown>>, rest: Readonly<Record<string, unknown>> = {}) => ({
  choices: [{ index: 0, delta: members, ...rest }],
});
const says = (content: string) => delta({ content });
const calls = (...entries: readonly unknown[]) => delta({ tool_calls: entries });
const ends = (reason: string) => delta({}, { finish_reason: reason });
/** A tool-call delta. Arguments that are undefined are left out. */
const part = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id, type: "function" }),
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});

function check(chunks: readonly Readonly<Record<string, unknown>>[], expected: string, options: Options = {}): void {
  expect(transcript(play(chunks, options))).toBe(expected);
}

describe("text", () => {
  test("the model is reported once", () => {
    check([{ model: "m-1", choices: [] }, { model: "m-1", ...says("Hi") }, ends("stop")], "model m-1 | Hi | stop");
  });
  test("an empty choice list, an empty text and a second choice are ignored", () => {
    check(
      [{ choices: [] }, says(""), { choices: [{ index: 1, delta: { content: "other" } }] }, says("Hi"), ends("stop")],
      "Hi | stop",
    );
  });
  test("`message` is read like `delta`", () => {
    check(
      [{ choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }],
      "Hi | stop",
    );
  });
  test("a refusal is not text", () => {
    check([delta({ refusal: "No" }), delta({ refusal: "." }), ends("stop")], "refuse: No. | stop");
  });
  test("a split surrogate pair is joined", () => {
    const events = play([says("a\uD83D"), says("\uDE00b"), ends("stop")]);
    expect(events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []))).toEqual(["a", "\u{1F600}b"]);
  });
  test("citations come after the text that they belong to", () => {
    const annotations = [
      { type: "url_citation", url_citation: { url: "https://a.test", title: "A", start_index: 0, end_index: 2 } },
    ];
    check(
      [delta({ annotations }), says("Hi"), delta({ annotations }), ends("stop")],
      "Hi | cites https://a.test | cites https://a.test | stop",
    );
  });
  test("log probabilities have bytes, made from the token if the server sends none", () => {
    const content = [
      { token: "é", logprob: -0.5, bytes: null, top_logprobs: [{ token: "e", logprob: -1, bytes: [101] }] },
    ];
    const events = play([delta({ content: "é" }, { logprobs: { content } }), ends("stop")], { wantsLogprobs: true });
    expect(events[0]).toEqual({
      type: "text_delta",
      text: "é",
      logprobs: [
        { token: "é", logprob: -0.5, bytes: [195, 169], top_logprobs: [{ token: "e", logprob: -1, bytes: [101] }] },
      ],
    });
  });
  test("log probabilities that were not requested are dropped", () => {
    const events = play([
      delta({ content: "a" }, { logprobs: { content: [{ token: "a", logprob: 0 }] } }),
      ends("stop"),
    ]);
    expect(events[0]).toEqual({ type: "text_delta", text: "a" });
  });
});

describe("after the finish reason", () => {
  verifies("chat-engine.finish.nothing-after");
  test("content is dropped and reported once; citations and token counts are kept", () => {
    let told = 0;
    const reader = new ChunkReader({
      toolNames: new ToolNames(),
      reasoningTags: "off",
      wantsLogprobs: false,
      onLateContent: () => (told += 1),
    });
    const annotations = [{ type: "url_citation", url_citation: { url: "https://a.test" } }];
    for (const chunk of [
      delta({ content: "Hi" }, { finish_reason: "stop" }),
      delta({ content: "", annotations }),
      says("late"),
      delta({ reasoning_content: "late" }),
      calls(part(0, "c1", "get_time", "{}")),
      { choices: [{ index: 0, text: "late" }] },
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 1 } },
    ])
      reader.read(chunk);
    reader.finish();
    expect(transcript(reader.take())).toBe("Hi | cites https://a.test | usage 9/0/0 1/0 | stop");
    expect(told).toBe(1);
  });
});

describe("reasoning", () => {
  for (const member of ["reasoning_content", "reasoning"]) {
    test(`reasoning in ${member} is not text`, () => {
      check([delta({ [member]: "Hm" }), delta({ [member]: "m" }), says("Hi"), ends("stop")], "think: Hmm | Hi | stop");
    });
  }
  test("the same reasoning in several members is read once", () => {
    const thought = {
      reasoning: "Hm",
      reasoning_content: "Hm",
      reasoning_details: [{ type: "reasoning.text", text: "Hm" }],
    };
    check([delta(thought), says("Hi"), ends("stop")], "think: Hm | Hi | stop");
  });
  test("reasoning_details hold reasoning text and summaries", () => {
    const details = [
      { type: "reasoning.summary", summary: "S" },
      { type: "reasoning.text", text: "T" },
      { type: "reasoning.encrypted", data: "x" },
    ];
    check([delta({ reasoning_details: details }), says("Hi"), ends("stop")], "summary: S | think: T | Hi | stop");
  });
  test("content in parts is split into text and reasoning", () => {
    check(
      [
        delta({
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
            { type: "text", text: "Hi" },
          ],
        }),
        ends("stop"),
      ],
      "think: Hm | Hi | stop",
    );
  });

  const tagged = "\n<think>\nA < b, </thin </b>\n</think>\n\nHi <think> there";
  test("tags are found wherever the content is split", () => {
    for (let cut = 0; cut <= tagged.length; cut += 1) {
      check(
        [says(tagged.slice(0, cut)), says(tagged.slice(cut)), ends("stop")],
        "think: A < b, </thin </b>\n | Hi <think> there | stop",
      );
    }
  });
  test("tags are found if each character arrives alone", () => {
    check([...[...tagged].map(says), ends("stop")], "think: A < b, </thin </b>\n | Hi <think> there | stop");
  });
  test("empty reasoning gives no event", () => {
    check([says("<think>\n\n</think>\n\n"), says("Hi"), ends("stop")], "Hi | stop");
  });
  test("reasoning without a closing tag stays reasoning", () => {
    check([says("<think>Hm </th"), ends("length")], "think: Hm </th | length");
  });
  test("tags inside an answer are text", () => {
    check([says("Use <think>x</think>"), ends("stop")], "Use <think>x</think> | stop");
  });
  test("text that only resembles a tag is text", () => {
    check([says(" <th"), says("e>"), ends("stop")], " <the> | stop");
    check([says("<thin"), ends("stop")], "<thin | stop");
  });
  test("with already_open, only the closing tag is needed", () => {
    check([says("Hm</think>"), says("Hi"), ends("stop")], "think: Hm | Hi | stop", { tags: "already_open" });
  });
  test("with off, tags are text", () => {
    check([says("<think>x</think>"), ends("stop")], "<think>x</think> | stop", { tags: "off" });
  });
  test("log probabilities of text that was held back come with the text", () => {
    const of = (token: string) => ({ logprobs: { content: [{ token, logprob: 0, bytes: [], top_logprobs: [] }] } });
    const events = play([delta({ content: "<" }, of("<")), delta({ content: "b" }, of("b")), ends("stop")], {
      wantsLogprobs: true,
    });
    expect(events[0]).toMatchObject({ text: "<b", logprobs: [{ token: "<" }, { token: "b" }] });
  });
});

describe("tool calls", () => {
  const done = ends("tool_calls");
  test("a call may arrive in pieces", () => {
    check(
      [
        calls(part(0, "c1", "get_time", "")),
        calls(part(0, undefined, undefined, '{"z":')),
        calls(part(0, undefined, undefined, "1}")),
        done,
      ],
      'get_time#c1({"z":1}) | stop',
    );
  });
  test("a call starts as soon as its name is known", () => {
    const toolNames = new ToolNames();
    toolNames.add({ kind: "function", name: "get_time", namespace: null });
    const reader = new ChunkReader({ toolNames, reasoningTags: "off", wantsLogprobs: false });
    reader.read(calls(part(0, "c1", "get_time", "")));
    expect(transcript(reader.take())).toBe("get_time#c1(");
    reader.read(calls(part(0, undefined, undefined, '{"a')));
    expect(transcript(reader.take())).toBe('{"a');
  });
  test("text before and after a call keeps its order", () => {
    check(
      [says("One"), calls(part(0, "c1", "get_time", "{}")), says("Two"), done],
      "One | get_time#c1({}) | Two | stop",
    );
  });
  test("white space before a call is not a message", () => {
    check(
      [delta({ reasoning_content: "Hm" }), says("\n\n"), calls(part(0, "c1", "get_time", "{}")), done],
      "think: Hm | get_time#c1({}) | stop",
    );
  });
  test("one delta may hold several calls", () => {
    check(
      [calls(part(0, "c1", "get_time", "{}"), part(1, "c2", "get_weather", '{"a":1}')), done],
      'get_time#c1({}) | get_weather#c2({"a":1}) | stop',
    );
  });
  test("interleaved calls are put in sequence", () => {
    const chunks = [
      calls(part(0, "c1", "get_time", ""), part(1, "c2", "get_weather", "")),
      calls(part(0, undefined, undefined, '{"a"'), part(1, undefined, undefined, '{"b"')),
      calls(part(1, undefined, undefined, ":2}"), part(0, undefined, undefined, ":1}")),
    ];
    check([...chunks, done], 'get_time#c1({"a":1}) | get_weather#c2({"b":2}) | stop');
  });
  test("text within an unfinished call waits for its end", () => {
    check(
      [calls(part(0, "c1", "get_time", '{"a"')), says("Hi"), calls(part(0, undefined, undefined, ":1}")), done],
      'get_time#c1({"a":1}) | Hi | stop',
    );
  });
  test("a new id and name on index 0 is another call", () => {
    check(
      [calls(part(0, "c1", "get_time", '{"a":1}')), calls(part(0, "c2", "get_weather", '{"b":2}')), done],
      'get_time#c1({"a":1}) | get_weather#c2({"b":2}) | stop',
    );
  });
  test("a new id on each delta is the same call", () => {
    check(
      [
        calls(part(0, "c1", "get_time", "")),
        calls(part(0, "x2", undefined, '{"a"')),
        calls(part(0, "x3", undefined, ":1}")),
        done,
      ],
      'get_time#c1({"a":1}) | stop',
    );
  });
  test("calls without index are told apart by id", () => {
    check(
      [calls(part(undefined, "c1", "get_time", '{"a":1}')), calls(part(undefined, "c2", "get_time", '{"b":2}')), done],
      'get_time#c1({"a":1}) | get_time#c2({"b":2}) | stop',
    );
  });
  test("calls without index and id are told apart by name", () => {
    check(
      [
        calls(part(undefined, undefined, "get_time", '{"a":1}'), part(undefined, undefined, "get_weather", '{"b":2}')),
        done,
      ],
      'get_time#none({"a":1}) | get_weather#none({"b":2}) | stop',
    );
    check(
      [calls(part(undefined, undefined, "get_time", ""), part(undefined, undefined, "get_weather", '{"b":2}')), done],
      'get_time#none({}) | get_weather#none({"b":2}) | stop',
    );
    check(
      [
        calls(part(undefined, undefined, "get_time", "")),
        calls(part(undefined, undefined, undefined, '{"a":')),
        calls(part(undefined, undefined, undefined, "1}")),
        done,
      ],
      'get_time#none({"a":1}) | stop',
    );
  });
  test("calls of one name without ids are told apart once each is complete", () => {
    check(
      [calls(part(0, undefined, "get_time", '{"a":1}')), calls(part(0, undefined, "get_time", '{"a":2}')), done],
      'get_time#none({"a":1}) | get_time#none({"a":2}) | stop',
    );
  });
  test("an id under several indexes is one call", () => {
    check(
      [
        calls(part(0, "c1", "get_time", "")),
        calls(part(1, "c1", undefined, '{"a":1}')),
        calls(part(2, "c1", "get_time", '{"a":1}')),
        done,
      ],
      'get_time#c1({"a":1}) | stop',
    );
  });
  test("arguments under an unknown index belong to the latest call", () => {
    check(
      [calls(part(0, "c1", "get_time", "")), calls(part(1, undefined, "", '{"a":1}')), done],
      'get_time#c1({"a":1}) | stop',
    );
  });
  test("arguments may be an object", () => {
    check([calls(part(0, "c1", "get_time", { a: 1 })), done], 'get_time#c1({"a":1}) | stop');
  });
  test("a call without arguments gets an empty object", () => {
    check([calls(part(0, "c1", "get_time", undefined)), done], "get_time#c1({}) | stop");
  });
  test("a placeholder {} is replaced by the arguments", () => {
    check(
      [
        calls(part(0, "c1", "get_time", "{}")),
        calls(part(0, undefined, undefined, '{"a":')),
        calls(part(0, undefined, undefined, "1}")),
        done,
      ],
      'get_time#c1({"a":1}) | stop',
    );
  });
  test("white space after the arguments and repeated arguments are dropped", () => {
    check(
      [
        calls(part(0, "c1", "get_time", '{"a":1}')),
        calls(part(0, undefined, undefined, " \n")),
        calls(part(0, "c1", undefined, '{"a":1}')),
        done,
      ],
      'get_time#c1({"a":1}) | stop',
    );
  });
  test("a name may be repeated, grow, or come in pieces", () => {
    check(
      [
        calls(part(0, "c1", "get_time", "")),
        calls(part(0, undefined, "get_time", '{"a":')),
        calls(part(0, undefined, "get_time", "1}")),
        done,
      ],
      'get_time#c1({"a":1}) | stop',
    );
    check(
      [
        calls(part(0, "c1", "get", "")),
        calls(part(0, undefined, "get_time", "")),
        calls(part(0, undefined, undefined, "{}")),
        done,
      ],
      "get_time#c1({}) | stop",
    );
    check(
      [
        calls(part(0, "c1", "get_", "")),
        calls(part(0, undefined, "time", "")),
        calls(part(0, undefined, undefined, "{}")),
        done,
      ],
      "get_time#c1({}) | stop",
    );
  });
  test("brackets inside strings do not end the arguments", () => {
    check(
      [calls(part(0, "c1", "get_time", '{"a":"}\\"}')), says("Hi"), calls(part(0, undefined, undefined, '"}')), done],
      'get_time#c1({"a":"}\\"}"}) | Hi | stop',
    );
  });
  test("a call cut by the limit is passed on and marked as cut", () => {
    check([calls(part(0, "c1", "get_time", '{"a":')), ends("length")], 'get_time#c1({"a":… cut) | length');
    check([calls(part(0, "c1", "get_time", "")), ends("length")], "get_time#c1(… cut) | length");
    check([calls(part(0, "c1", "patch", '{"input":"a')), ends("content_filter")], "~patch#c1(a… cut) | content_filter");
    check([calls(part(0, "c1", "tool_search", '{"a":')), ends("length")], "search#c1({}… cut) | length");
  });
  test("a call that was complete before the limit is not marked", () => {
    check([calls(part(0, "c1", "get_time", '{"a":1}')), ends("length")], 'get_time#c1({"a":1}) | length');
  });
  test("an unfinished call behind a cut one is marked too", () => {
    check(
      [calls(part(0, "c1", "get_time", '{"a":')), calls(part(1, "c2", "get_weather", '{"b":')), ends("length")],
      'get_time#c1({"a":… cut) | get_weather#c2({"b":… cut) | length',
    );
  });
  test("a call cut within its name is dropped", () => {
    check([says("Hi"), calls(part(0, "c1", "get_t", "")), ends("length")], "Hi | length");
  });
  test("an id that is too long for the contract is dropped, so that the run makes one", () => {
    check([calls(part(0, "x".repeat(65), "get_time", "{}")), done], "get_time#none({}) | stop");
  });
  test("the older function_call is read as a call", () => {
    check(
      [
        delta({ function_call: { name: "get_time", arguments: "" } }),
        delta({ function_call: { arguments: '{"a":1}' } }),
        ends("function_call"),
      ],
      'get_time#none({"a":1}) | stop',
    );
  });
  test("a call in both formats, with id and name on each delta and a blank behind it, is one call", () => {
    const both = (text: string) => {
      const called = { name: "get_time", arguments: text };
      const function_call = { function_call: called };
      return delta({ ...function_call, tool_calls: [{ index: 0, id: "c1", type: "function", function: called }] });
    };
    const said = [both('{"a":'), both("1"), both("}"), both(" "), both("")];
    check([...said, delta({ function_call: null, tool_calls: null }), done], 'get_time#c1({"a":1}) | stop');
  });
  test("a flat name is translated back to namespace and name", () => {
    check([calls(part(0, "c1", "crm__search", "{}")), done], "crm.search#c1({}) | stop");
  });
  test("an unknown tool name is read as a function", () => {
    check(
      [calls(part(0, "c1", "made_up", "")), calls(part(0, undefined, undefined, "{}")), done],
      "made_up#c1({}) | stop",
    );
  });
  test("a call without a name is an error", () => {
    expect(() => play([calls(part(0, "c1", undefined, "{}")), done])).toThrow("called a tool without saying which");
  });
});

describe("custom tools", () => {
  const input = 'line 1\n"q" \\ é \u{1F600} {}';
  const wrapped = JSON.stringify({ input });
  test("the input is unwrapped wherever the arguments are split", () => {
    for (let cut = 0; cut <= wrapped.length; cut += 1) {
      const pieces = [part(0, "c1", "patch", wrapped.slice(0, cut)), part(0, undefined, undefined, wrapped.slice(cut))];
      check([calls(pieces[0]), calls(pieces[1]), ends("tool_calls")], `~patch#c1(${input}) | stop`);
    }
  });
  test("escapes are decoded if each character arrives alone", () => {
    const escaped = '{ "input" : "\\u00e9\\ud83d\\ude00\\n\\/" }';
    check(
      [
        calls(part(0, "c1", "patch", "")),
        ...[...escaped].map((character) => calls(part(0, undefined, undefined, character))),
        ends("tool_calls"),
      ],
      "~patch#c1(é\u{1F600}\n/) | stop",
    );
  });
  test("the input streams before it is complete", () => {
    const toolNames = new ToolNames();
    toolNames.add({ kind: "custom", name: "patch", namespace: null });
    const reader = new ChunkReader({ toolNames, reasoningTags: "off", wantsLogprobs: false });
    reader.read(calls(part(0, "c1", "patch", '{"input":"one ')));
    reader.read(calls(part(0, undefined, undefined, "two")));
    expect(transcript(reader.take())).toBe("~patch#c1(one two");
  });
  for (const [shape, args, expected] of [
    ["another member", '{"patch":"x"}', "x"],
    ["a bare string", '"x"', "x"],
    ["two members", '{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
    ["no JSON", "*** Begin Patch", "*** Begin Patch"],
    ["nothing", "", ""],
  ] as const) {
    test(`arguments with ${shape} still give an input`, () => {
      check([calls(part(0, "c1", "patch", args)), ends("tool_calls")], `~patch#c1(${expected}) | stop`);
    });
  }
});

describe("a search for tools", () => {
  test.each([
    ['{"query":"files","limit":3}', '{"query":"files","limit":3}'],
    ["", "{}"],
    ["no JSON", "{}"],
  ])("comes whole, wherever its arguments %s are cut", (args, expected) => {
    for (let cut = 0; cut <= args.length; cut += 1) {
      check(
        [
          says("I look."),
          calls(part(0, "c1", "tool_search", args.slice(0, cut))),
          calls(part(0, undefined, undefined, args.slice(cut))),
          ends("tool_calls"),
        ],
        `I look. | search#c1(${expected}) | stop`,
      );
    }
  });

  test("keeps its order among other calls", () => {
    check(
      [calls(part(0, "c1", "tool_search", "{}")), calls(part(1, "c2", "get_time", "{}")), ends("tool_calls")],
      "search#c1({}) | get_time#c2({}) | stop",
    );
  });
});

describe("the end", () => {
  for (const [reason, expected] of [
    ["stop", "stop"],
    ["eos", "stop"],
    ["tool_calls", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["MAX_TOKENS", "length"],
    ["content_filter", "content_filter"],
    ["SAFETY", "content_filter"],
  ] as const) {
    test(`${reason} ends the turn as ${expected}`, () => check([says("Hi"), ends(reason)], `Hi | ${expected}`));
  }
  test("a failing finish reason is an error", () => {
    expect(() => play([says("Hi"), ends("error")])).toThrow("gave up in the middle");
  });
  test("token counts come before the end, with their details", () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    check([says("Hi"), ends("stop"), { choices: [], usage }], "Hi | usage 9/4/1 5/2 | stop");
  });
  test("the last of several token counts is used", () => {
    check(
      [
        { ...says("Hi"), usage: { prompt_tokens: 9, completion_tokens: 1 } },
        { ...ends("stop"), usage: { prompt_tokens: 9, completion_tokens: 2 } },
      ],
      "Hi | usage 9/0/0 2/0 | stop",
    );
  });
  for (const [server, chunk, expected] of [
    [
      "DeepSeek",
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 3 } },
      "usage 9/3/0 1/0",
    ],
    [
      "Moonshot",
      { choices: [{ index: 0, delta: {}, usage: { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 3 } }] },
      "usage 9/3/0 1/0",
    ],
    ["Groq", { choices: [], x_groq: { usage: { prompt_tokens: 9, completion_tokens: 1 } } }, "usage 9/0/0 1/0"],
  ] as const) {
    test(`token counts of ${server} are understood`, () =>
      check([says("Hi"), ends("stop"), chunk], `Hi | ${expected} | stop`));
  }
  test("invalid totals give no usage, and invalid details are 0", () => {
    verifies("chat-engine.usage.insane-counts-ignored");
    for (const count of [1e308, 1e10, -1, 0.5, "12", {}]) {
      check(
        [says("Hi"), ends("stop"), { choices: [], usage: { prompt_tokens: count, completion_tokens: 1 } }],
        "Hi | stop",
      );
      check([says("Hi"), ends("stop"), { choices: [], usage: { completion_tokens: count } }], "Hi | stop");
      const details = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: count } };
      check([says("Hi"), ends("stop"), { choices: [], usage: details }], "Hi | usage 9/0/0 1/0 | stop");
    }
  });
  test("without token counts there is no usage", () => check([says("Hi"), ends("stop")], "Hi | stop"));
});
