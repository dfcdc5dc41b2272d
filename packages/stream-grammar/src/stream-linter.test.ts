import type { OutputItem, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, test } from "vitest";
import { misjudgedMutations } from "./check-mutations.fixture.ts";
import { EVENT_TYPES } from "./event-members.ts";
import { ITEM_GRAMMAR } from "./grammar.ts";
import type { RuleName } from "./rules.ts";
import { SAMPLE_STREAMS, type SampleEvent } from "./sample-streams.fixture.ts";
import { lintEvents } from "./stream-linter.ts";

const SAMPLES = Object.entries(SAMPLE_STREAMS);

test.each(SAMPLES)("%s is legal", (_, events) => {
  const nothing = { faults: [], faultsLeftOut: 0, notes: [] };
  expect(lintEvents(events)).toEqual({ responseId: "resp_1", events: events.length, ...nothing });
});

test.each(SAMPLES)("each mutation of %s is reported with its rule and event", (_, events) => {
  const { tried, misjudged } = misjudgedMutations(events);
  expect(misjudged).toEqual([]);
  expect(tried).toBeGreaterThan(25);
});

describe("the grammar", () => {
  test("knows the event types of the contract", () => {
    const known: Record<ResponseStreamEvent["type"], true> = CONTRACT_EVENTS;
    expect(EVENT_TYPES.toSorted()).toEqual(Object.keys(known).toSorted());
  });

  test("knows the output items of the contract", () => {
    const known: Record<OutputItem["type"], true> = CONTRACT_ITEMS;
    expect([...ITEM_GRAMMAR.keys()].toSorted()).toEqual(Object.keys(known).toSorted());
  });
});

/** Rules that the systematic mutations do not test, and further legal streams. */
describe("a stream", () => {
  const sample = (name: string): readonly SampleEvent[] => SAMPLE_STREAMS[name] ?? [];
  const check = (
    events: readonly unknown[],
    ...faults: readonly (readonly [event: number, rule: RuleName])[]
  ): void => {
    expect(lintEvents(events).faults.map(({ event, rule }) => [event, rule])).toEqual(faults);
  };
  const numbered = (events: readonly SampleEvent[]): SampleEvent[] =>
    events.map((event, index) => ({ ...event, sequence_number: index }));

  test("without events lacks an ending", () => check([], [0, "one-ending"]));

  test("has only objects with a type as events", () => {
    check(["text", null, { no: "type" }], [0, "event-json"], [1, "event-json"], [2, "event-json"], [3, "one-ending"]);
  });

  test("may hold keep-alives with or without a number of their own, but not before its first event", () => {
    const events = sample("a text");
    const keepAlive = { type: "keepalive" };
    check(numbered(events.toSpliced(4, 0, keepAlive)));
    check(events.toSpliced(4, 0, { ...keepAlive, sequence_number: 4 }));
    check(numbered(events.toSpliced(0, 0, keepAlive)), [0, "stream-order"]);
  });

  test("may change the fingerprint of a program, but nothing else", () => {
    const events = sample("a program");
    const last = events.at(-1);
    const shown = (item: object): unknown[] => {
      const [program, output]: Record<string, unknown>[] = Object(last?.["response"]).output;
      const response = { ...Object(last?.["response"]), output: [{ ...program, ...item }, output] };
      return events.with(events.length - 1, { type: "", ...last, response });
    };
    check(shown({ fingerprint: "c" }));
    const [fault, ...others] = lintEvents(shown({ fingerprint: "c", code: "2" })).faults;
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ rule: "final-output", says: expect.stringContaining("'code' is \"2\"") });
  });

  test("may list the tools of several MCP servers at the same time", () => {
    const events = sample("MCP tools that are listed and called");
    const [created, started, added, progress, completed, done] = events;
    if (!created || !started || !added || !progress || !completed || !done) throw new Error("the sample is too short");
    const other = (event: SampleEvent): SampleEvent => ({
      ...event,
      output_index: 1,
      ...("item_id" in event ? { item_id: "mcp_2" } : { item: { ...Object(event["item"]), id: "mcp_2" } }),
    });
    const output = [done["item"], other(done)["item"]];
    const last = events.at(-1);
    const ended = { ...last, type: "response.completed", response: { ...Object(last?.["response"]), output } };
    const both = [added, progress, other(added), other(progress), completed, other(completed), done, other(done)];
    check(numbered([created, started, ...both, ended]));
  });

  test("may report an approved MCP call as in progress twice", () => {
    const events = sample("an MCP call that fails");
    const at = events.findIndex(({ type }) => type === "response.mcp_call.in_progress");
    check(numbered(events.toSpliced(at + 3, 0, events[at] ?? { type: "" })));
  });

  test("must not add an item before the last is done", () => {
    const events = sample("parallel calls");
    const [at, next] = events.flatMap(({ type }, index) => (type === "response.output_item.added" ? [index] : []));
    const added = events[next ?? 0] ?? { type: "" };
    check(numbered(events.toSpliced(next ?? 0, 1).toSpliced((at ?? 0) + 1, 0, added)), [3, "one-item-at-a-time"]);
  });

  test("must have call ids that are unique and do not change", () => {
    const events = sample("parallel calls");
    const item = (index: number, members: object): SampleEvent[] =>
      events.map((event, at) => (at === index ? { ...event, item: { ...Object(event["item"]), ...members } } : event));
    check(item(7, { call_id: "call_1" }), [7, "call-id"], [11, "call-id"]);
    check(item(6, { call_id: "call_9" }), [6, "call-id"], [12, "final-output"]);
    check(item(6, { name: "g" }), [6, "done-item"], [12, "final-output"]);
    check(item(6, { arguments: "{ }" }), [6, "done-item"], [12, "final-output"]);
    check(item(2, { arguments: "{" }), [2, "added-empty"], [6, "done-item"]);
    check(item(2, { type: "new_call" }), [2, "item-type"], [6, "done-item"]);
  });

  test("must have exactly the streamed items in its final output", () => {
    const events = sample("a text");
    const last = events.at(-1);
    const ended = (members: object): unknown[] =>
      events.with(events.length - 1, { type: "", ...last, response: { ...Object(last?.["response"]), ...members } });
    check(ended({ output: [] }), [9, "final-output"]);
    check(ended({ output: [{ type: "message" }] }), [9, "final-output"]);
    check(ended({ status: "failed" }), [9, "stream-order"]);
    check(
      [...events, ...events.slice(-1)].map((event, index) => ({ ...event, sequence_number: index })),
      [10, "one-ending"],
    );
    check([...events, { ...events[4], sequence_number: 10 }], [10, "nothing-after-ending"]);
  });

  test("must begin with snapshots without output and usage", () => {
    const [created, ...others] = sample("a text");
    const response = { ...Object(created?.["response"]), output: [{}], usage: {} };
    check([{ ...created, response }, ...others], [0, "first-snapshot"], [0, "first-snapshot"]);
  });

  test("that fails must give the error in a member error", () => {
    const events = sample("a failure");
    const flat = { type: "error", sequence_number: 2, code: "server_error", message: "Broke.", param: null };
    check(events.with(2, flat), [2, "event-members"]);
    check(
      events.with(2, { ...flat, error: { message: "Broke." } }),
      [2, "event-members"],
      [2, "event-members"],
      [2, "event-members"],
    );
  });

  test("may end as cancelled before it is in progress", () => {
    const [created, queued, , ...others] = sample("a cancelled response");
    const last = others.at(-1);
    const ended = { type: "", ...last, response: { ...Object(last?.["response"]), output: [] } };
    check(numbered([created ?? ended, queued ?? ended, ended]));
  });

  test("has a report of at most 200 faults", () => {
    const { faults, faultsLeftOut } = lintEvents(Array.from({ length: 300 }, () => "wrong"));
    expect([faults.length, faultsLeftOut]).toEqual([200, 101]);
  });
});

describe("the extension dialect", () => {
  const renamed = (name: string): SampleEvent[] =>
    (SAMPLE_STREAMS[name] ?? []).map((event): SampleEvent => {
      const type = event.type
        .replace(
          /^response[.](function_call_arguments|custom_tool_call_input|mcp_call_arguments)[.]/,
          "response.tool_call.",
        )
        .replace(/^response[.]audio[.](delta|done)$/, "response.output_audio.$1");
      if (type !== "error") return { ...event, type };
      const { error, ...others } = event;
      return { ...others, ...Object(error), type: "response.error" };
    });

  test.each(["a function call", "a custom tool call", "an MCP call that fails", "a spoken answer", "a failure"])(
    "renames events of %s",
    (name) => {
      expect(lintEvents(renamed(name), "extension").faults).toEqual([]);
      expect(lintEvents(renamed(name), null).faults).toEqual([]);
      expect(lintEvents(SAMPLE_STREAMS[name] ?? [], null).faults).toEqual([]);
      expect(lintEvents(renamed(name)).faults[0]?.rule).toBe("known-type");
      expect(lintEvents(SAMPLE_STREAMS[name] ?? [], "extension").faults[0]?.rule).toBe("known-type");
    },
  );
});

test("a stream that mixes both dialects is judged by the first of them", () => {
  const delta = { type: "response.tool_call.delta", sequence_number: 0, delta: "{}" };
  const error = { type: "error", sequence_number: 1, error: {} };
  const rulesOf = (events: readonly unknown[]) => lintEvents(events, null).faults.map(({ says }) => says);
  expect(rulesOf([delta, error])).toContain("the extension dialect has no error here");
  expect(rulesOf([error, delta])).toContain("'response.tool_call.delta' is not an event type");
});

/** Does not compile if the contract has other event types. */
const CONTRACT_EVENTS = {
  "response.created": true,
  "response.queued": true,
  "response.in_progress": true,
  "response.completed": true,
  "response.incomplete": true,
  "response.failed": true,
  "response.output_item.added": true,
  "response.output_item.done": true,
  "response.content_part.added": true,
  "response.content_part.done": true,
  "response.output_text.delta": true,
  "response.output_text.done": true,
  "response.output_text.annotation.added": true,
  "response.refusal.delta": true,
  "response.refusal.done": true,
  "response.reasoning_summary_part.added": true,
  "response.reasoning_summary_part.done": true,
  "response.reasoning_summary_text.delta": true,
  "response.reasoning_summary_text.done": true,
  "response.reasoning_text.delta": true,
  "response.reasoning_text.done": true,
  "response.function_call_arguments.delta": true,
  "response.function_call_arguments.done": true,
  "response.custom_tool_call_input.delta": true,
  "response.custom_tool_call_input.done": true,
  "response.mcp_call_arguments.delta": true,
  "response.mcp_call_arguments.done": true,
  "response.apply_patch_call_operation_diff.delta": true,
  "response.apply_patch_call_operation_diff.done": true,
  "response.mcp_call.in_progress": true,
  "response.mcp_call.completed": true,
  "response.mcp_call.failed": true,
  "response.mcp_list_tools.in_progress": true,
  "response.mcp_list_tools.completed": true,
  "response.mcp_list_tools.failed": true,
  "response.web_search_call.in_progress": true,
  "response.web_search_call.searching": true,
  "response.web_search_call.completed": true,
  "response.file_search_call.in_progress": true,
  "response.file_search_call.searching": true,
  "response.file_search_call.completed": true,
  "response.code_interpreter_call.in_progress": true,
  "response.code_interpreter_call.interpreting": true,
  "response.code_interpreter_call.completed": true,
  "response.code_interpreter_call_code.delta": true,
  "response.code_interpreter_call_code.done": true,
  "response.image_generation_call.in_progress": true,
  "response.image_generation_call.generating": true,
  "response.image_generation_call.completed": true,
  "response.compaction.compacting": true,
  "response.image_generation_call.partial_image": true,
  "response.shell_call_command.added": true,
  "response.shell_call_command.delta": true,
  "response.shell_call_command.done": true,
  "response.shell_call_output_content.delta": true,
  "response.shell_call_output_content.done": true,
  "response.audio.delta": true,
  "response.audio.done": true,
  "response.audio.transcript.delta": true,
  "response.audio.transcript.done": true,
  error: true,
  keepalive: true,
} as const;

const CONTRACT_ITEMS = {
  message: true,
  reasoning: true,
  function_call: true,
  custom_tool_call: true,
  web_search_call: true,
  file_search_call: true,
  code_interpreter_call: true,
  image_generation_call: true,
  mcp_list_tools: true,
  mcp_call: true,
  mcp_approval_request: true,
  shell_call: true,
  shell_call_output: true,
  local_shell_call: true,
  apply_patch_call: true,
  computer_call: true,
  tool_search_call: true,
  tool_search_output: true,
  additional_tools: true,
  compaction: true,
  program: true,
  program_output: true,
} as const;
