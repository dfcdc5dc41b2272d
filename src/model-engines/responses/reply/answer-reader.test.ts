import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { ToolNames } from "../../context/tool-names.ts";
import { transcript } from "../../model-server/reply/transcript.fixture.ts";
import { CREATED, completedEvent, messageEvents } from "../responses-server.fixture.ts";
import { AnswerReader } from "./answer-reader.ts";

interface Reading {
  readonly events: readonly ModelEvent[];
  readonly skipped: readonly string[];
}

function read(...wireEvents: readonly object[]): Reading {
  const toolNames = new ToolNames();
  toolNames.add({ kind: "function", name: "roll", namespace: "dice" });
  toolNames.add({ kind: "custom", name: "patch", namespace: null });
  toolNames.add({ kind: "hosted", name: "web_search", namespace: null });
  toolNames.add({ kind: "tool_search", name: "tool_search", namespace: null });
  const skipped: string[] = [];
  const onSkipped = (type: string): void => void skipped.push(type);
  const reader = new AnswerReader({ toolNames, server: "here", onUsage: () => {}, onSkipped });
  for (const event of wireEvents) reader.read({ ...event });
  reader.finish();
  return { events: reader.take(), skipped };
}

/** Compares the transcript of what was read, without the model before it and usage and reason behind it. */
function check(wireEvents: readonly object[], expected: string, end: object = completedEvent()): void {
  const line = transcript(read(CREATED, ...wireEvents, end).events);
  expect(line.replace(/^model m \| /, "").replace(/ ?\| usage 3\/1\/0 2\/1 \| stop$/, "")).toBe(expected);
}

const added = (index: number, item: object) => ({ type: "response.output_item.added", output_index: index, item });
const done = (index: number, item: object) => ({ type: "response.output_item.done", output_index: index, item });
const part = (type: string, members: object, index = 0) => ({
  type: `response.${type}`,
  output_index: index,
  ...members,
});
const call = (name: string, members: object = {}) => ({
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name,
  arguments: "",
  ...members,
});

describe("a message", () => {
  test("is its text, with its model and usage", () => {
    const { events } = read(CREATED, ...messageEvents("Hi"), completedEvent());
    expect(events).toEqual([
      { type: "model_resolved", model: "m", answerId: "resp_1" },
      { type: "message_started" },
      { type: "text_delta", text: "Hi" },
      { type: "message_finished" },
      {
        type: "usage",
        usage: { inputTokens: 3, cachedTokens: 1, cacheWriteTokens: 0, outputTokens: 2, reasoningTokens: 1 },
      },
      { type: "finished", reason: "stop" },
    ]);
  });

  test("has its phase, log probabilities, annotations and refusal", () => {
    const token = { token: "Hi", bytes: [72, 105], logprob: -0.5, top_logprobs: [] };
    const annotation = { type: "url_citation", start_index: 0, end_index: 2, title: "T", url: "https://a.test" };
    const item = { type: "message", phase: "commentary", content: [] };
    const { events } = read(
      added(0, item),
      part("output_text.delta", { content_index: 0, delta: "Hi", logprobs: [token] }),
      part("output_text.annotation.added", { content_index: 0, annotation }),
      part("output_text.annotation.added", { content_index: 0, annotation: { type: "unknown" } }),
      part("refusal.delta", { content_index: 1, delta: "No." }),
      done(0, item),
      completedEvent(),
    );
    expect(events.slice(0, -3)).toEqual([
      { type: "message_started", phase: "commentary" },
      { type: "text_delta", text: "Hi", logprobs: [token] },
      { type: "annotation", annotation },
      { type: "refusal_delta", text: "No." },
      { type: "message_finished" },
    ]);
  });

  test.each<[string, readonly object[]]>([
    ["only when the text is whole", [part("output_text.done", { content_index: 0, text: "Hello" })]],
    ["only when its item is whole", []],
    ["half, and then whole", [part("output_text.delta", { content_index: 0, delta: "Hel" })]],
  ])("may be told %s", (_title, events) => {
    const item = { type: "message", content: [{ type: "output_text", text: "Hello" }] };
    check([added(0, { type: "message" }), ...events, done(0, item)], "message_started | Hello | message_finished");
  });

  test("may be told only at the end of the response", () => {
    const output = [{ id: "msg_0", type: "message", content: [{ type: "output_text", text: "Hello" }] }];
    check([], "message_started | Hello | message_finished", completedEvent({ output }));
    check(messageEvents("Hello", 2), "message_started | Hello | message_finished", completedEvent({ output }));
    check([...messageEvents("Hello")], "message_started | Hello | message_finished", completedEvent({ output }));
  });
});

describe("reasoning", () => {
  test("is summary parts, raw text and its encrypted form, of one item after the other", () => {
    const item = { id: "rs_9", type: "reasoning", summary: [], encrypted_content: "gAAA" };
    const { events } = read(
      added(0, item),
      part("reasoning_summary_text.delta", { summary_index: 0, delta: "One" }),
      part("reasoning_summary_text.delta", { summary_index: 1, delta: "Two" }),
      part("reasoning_text.delta", { content_index: 0, delta: "Raw" }),
      done(0, item),
      done(1, { ...item, id: "rs_10", encrypted_content: "gBBB" }),
      done(2, { id: "rs_11", type: "reasoning", summary: [{ type: "summary_text", text: "Late" }] }),
      done(3, { id: "rs_12", type: "reasoning", summary: [] }),
      completedEvent(),
    );
    expect(events.slice(0, -3)).toEqual([
      { type: "reasoning_summary_delta", text: "One" },
      { type: "reasoning_summary_break" },
      { type: "reasoning_summary_delta", text: "Two" },
      { type: "reasoning_delta", text: "Raw" },
      { type: "reasoning_sealed", sealedText: "here\nrs_9\ngAAA" },
      { type: "message_finished" },
      { type: "reasoning_sealed", sealedText: "here\nrs_10\ngBBB" },
      { type: "message_finished" },
      { type: "reasoning_summary_delta", text: "Late" },
      { type: "message_finished" },
    ]);
  });
});

describe("a call", () => {
  test("is named as its tool is, for the client or for this server", () => {
    check(
      [
        added(0, call("dice__roll")),
        part("function_call_arguments.delta", { delta: '{"d":' }),
        part("function_call_arguments.delta", { delta: "6}" }),
        done(0, call("dice__roll", { arguments: '{"d":6}', status: "completed" })),
        done(1, call("web_search", { call_id: "call_2", arguments: "{}" })),
        done(2, { type: "custom_tool_call", call_id: "call_3", name: "patch", input: "+ a" }),
        done(3, call("invented", { call_id: "call_4" })),
        done(4, call("tool_search", { call_id: "call_5", arguments: '{"query":"q"}' })),
      ],
      'dice.roll#call_1({"d":6}) | @web_search#call_2({}) | ~patch#call_3(+ a) | invented#call_4({}) | search#call_5({"query":"q"})',
    );
  });

  test("is cut if the answer is cut within it", () => {
    const end = {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    };
    const deltas = [added(0, call("dice__roll")), part("function_call_arguments.delta", { delta: '{"d":' })];
    check(deltas, 'dice.roll#call_1({"d":… cut) | length', end);
    check(
      [...deltas, done(0, call("dice__roll", { arguments: '{"d":', status: "incomplete" }))],
      'dice.roll#call_1({"d":… cut) | length',
      end,
    );
    check([added(0, call(""))], "length", end);
  });

  test("without a name is a fault of the server", () => {
    expect(() => read(CREATED, done(0, call("")))).toThrow("called a tool without saying which");
  });
});

describe("the end", () => {
  test.each([
    [{ reason: "max_output_tokens" }, "length"],
    [{ reason: "content_filter" }, "content_filter"],
    [null, "length"],
  ])("of an incomplete response for %j is %s", (details, reason) => {
    const { events } = read({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: details },
    });
    expect(events).toEqual([{ type: "finished", reason }]);
  });

  test.each([
    [{}],
    [{ input_tokens: -1, output_tokens: 1 }],
    [{ input_tokens: 1, output_tokens: 1e308 }],
    ["12"],
    [null],
  ])("has no usage if that is %j", (usage) => {
    expect(read(completedEvent({ usage })).events.map(({ type }) => type)).toEqual(["model_resolved", "finished"]);
  });
});

test("events and items of tools that the model server runs are skipped, each told", () => {
  const { events, skipped } = read(
    added(0, { id: "ws_1", type: "web_search_call" }),
    part("web_search_call.searching", { item_id: "ws_1" }),
    done(0, { id: "ws_1", type: "web_search_call" }),
    ...messageEvents("Hi", 1),
    { type: "keepalive", sequence_number: 9 },
    completedEvent(),
  );
  expect(transcript(events)).toContain("message_started | Hi | message_finished");
  expect(skipped).toEqual(["web_search_call", "response.web_search_call.searching"]);
});

test("items that a server interleaves are told one after the other, each as if it came alone", () => {
  verifies("responses-engine.stream.strictly-sequential");
  const argsOf = (index: number) => `{"n":${index}}`;
  const callEvents = (index: number) => [
    added(index, call("dice__roll", { call_id: `call_${index}` })),
    ...[...argsOf(index)].map((delta) => part("function_call_arguments.delta", { delta }, index)),
    done(index, call("dice__roll", { call_id: `call_${index}`, arguments: argsOf(index) })),
  ];
  const items = [messageEvents("Hello", 0), callEvents(1), callEvents(2), messageEvents("Bye", 3)];
  const whole = read(CREATED, ...items.flat(), completedEvent()).events;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 60, maxLength: 60 }), (order) => {
      const queues = items.map((events) => [...events]);
      const first = queues.map((queue) => queue.shift() ?? {}); // Items are announced in their order.
      const mixed = order.flatMap((index) => queues[index]?.splice(0, 1) ?? []);
      const all = [CREATED, ...first, ...mixed, ...queues.flat(), completedEvent()];
      expect(transcript(read(...all).events)).toBe(transcript(whole));
    }),
  );
});

test("items that wait behind an unfinished one are limited", () => {
  const delta = part("output_text.delta", { content_index: 0, delta: "x".repeat(1024 * 1024) }, 1);
  expect(() => read(added(0, call("dice__roll")), added(1, { type: "message" }), delta, delta, delta, delta)).toThrow(
    "sent output items that are too large",
  );
});
