import type { OutputItem, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItem, HostedItemEvent } from "@antiphon/domain/models/hosted.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { lintEvents } from "@antiphon/stream-grammar/stream-linter.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { foldEvents } from "../fold/fold-events.ts";
import { numberEvent } from "../numbering.ts";
import { aPlan } from "../run.fixture.ts";
import type { RunSignal, RunState } from "../run-state.ts";
import { initialState, transition } from "../transition.ts";

const hears = (event: ModelEvent): RunSignal => ({ type: "model", event });
const writes = (text: string): HostedItemEvent => ({ type: "item_delta", text });
const steps = (type: "searching" | "interpreting" | "generating"): HostedItemEvent => ({
  type: "item_step",
  step: { type },
});
const written: HostedItemEvent = { type: "item_written" };
const draws: HostedItemEvent = {
  type: "item_step",
  step: {
    type: "partial_image",
    background: "opaque",
    output_format: "png",
    partial_image_b64: "AA",
    partial_image_index: 0,
    quality: "low",
    size: "auto",
  },
};
const prints = (stdout: string, stderr = ""): HostedItemEvent => ({
  type: "item_step",
  step: { type: "command_printed", stdout, stderr },
});

type Ending = "completed" | "cancelled" | "failed";

const ENDS: Readonly<Record<Ending, readonly RunSignal[]>> = {
  completed: [hears({ type: "finished", reason: "stop" }), { type: "model_ended", at: 1_800_000_005 }],
  cancelled: [{ type: "cancelled" }],
  failed: [
    {
      type: "model_failed",
      failure: { type: "server_error", code: "a", message: "b", param: null, responseCode: "server_error" },
    },
  ],
};

/** The events of the items, and the output. Every stream is legal. */
function play(events: readonly ModelEvent[], ending: Ending = "completed") {
  let state: RunState = initialState(aPlan());
  const told: ResponseStreamEvent[] = [];
  for (const signal of [{ type: "accepted" } as const, ...events.map(hears), ...ENDS[ending]]) {
    const next = transition(state, signal);
    state = next.state;
    for (const event of next.events) told.push(numberEvent(event, told.length));
  }
  expect(lintEvents(structuredClone(told)).faults).toEqual([]);
  if (state.phase !== "ended") throw new Error("the run has not ended");
  expect(foldEvents(told)).toEqual(state.response);
  const last = ending === "failed" ? -2 : -1;
  const between = told.slice(2, last).map(({ type }) => type.replace(/^response\./, ""));
  return { names: between.join(" "), output: state.response.output, events: told };
}

type Type = HostedItem["type"];

/** Each type with what the loop tells between the first and the last form, and the events that come of it. */
const WHOLE: readonly (readonly [Type, readonly HostedItemEvent[], string])[] = [
  [
    "web_search_call",
    [steps("searching")],
    "web_search_call.in_progress web_search_call.searching web_search_call.completed",
  ],
  [
    "file_search_call",
    [steps("searching"), steps("searching")],
    "file_search_call.in_progress file_search_call.searching file_search_call.completed",
  ],
  [
    "code_interpreter_call",
    [writes("print"), writes("(1)"), written, steps("interpreting")],
    "code_interpreter_call.in_progress code_interpreter_call_code.delta code_interpreter_call_code.delta " +
      "code_interpreter_call_code.done code_interpreter_call.interpreting code_interpreter_call.completed",
  ],
  [
    "image_generation_call",
    [steps("generating"), draws],
    "image_generation_call.in_progress image_generation_call.generating image_generation_call.partial_image " +
      "image_generation_call.completed",
  ],
  ["mcp_list_tools", [], "mcp_list_tools.in_progress mcp_list_tools.completed"],
  [
    "mcp_call",
    [writes('{"at":"Cork"}'), written],
    "mcp_call.in_progress mcp_call_arguments.delta mcp_call_arguments.done mcp_call.completed",
  ],
  ["mcp_approval_request", [], ""],
  ["computer_call", [], ""],
  ["local_shell_call", [], ""],
  [
    "shell_call",
    [writes("ls"), writes(" -l"), written, writes("pwd"), written],
    "shell_call_command.added shell_call_command.delta shell_call_command.delta shell_call_command.done " +
      "shell_call_command.added shell_call_command.delta shell_call_command.done",
  ],
  [
    "shell_call_output",
    [
      prints("a\n"),
      prints("b\n"),
      {
        type: "item_step",
        step: {
          type: "command_ended",
          output: { stdout: "a\nb\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        },
      },
      prints("", "no"),
    ],
    "shell_call_output_content.delta shell_call_output_content.delta shell_call_output_content.done " +
      "shell_call_output_content.delta shell_call_output_content.done",
  ],
  [
    "apply_patch_call",
    [writes("+"), writes("a\n")],
    "apply_patch_call_operation_diff.delta apply_patch_call_operation_diff.delta apply_patch_call_operation_diff.done",
  ],
  ["tool_search_call", [], ""],
  ["tool_search_output", [], ""],
];

function names(inside: string): string {
  return ["output_item.added", inside, "output_item.done"].filter((part) => part !== "").join(" ");
}

function tellWhole(type: Type, inside: readonly HostedItemEvent[]): readonly ModelEvent[] {
  const { first, last } = SAMPLE_ITEMS[type]("it_1");
  return [{ type: "item_started", item: first }, ...inside, { type: "item_finished", item: last }];
}

describe.each(WHOLE)("a %s", (type, inside, expected) => {
  const { first, last } = SAMPLE_ITEMS[type]("it_1");

  test("is shown as it begins, grows and ends", () => {
    verifies("responses.stream.web-search-order");
    const { names: shown, output, events } = play(tellWhole(type, inside));
    expect(shown).toBe(names(expected));
    expect(output).toEqual([last]);
    expect(events.find((event) => event.type === "response.output_item.added")).toMatchObject({ item: first });
  });

  test("that is told by its first and last form alone shows the same events, each text in one delta", () => {
    const { names: shown, output } = play(tellWhole(type, []));
    const once = expected.replaceAll(/(\S+\.delta)(?: \1)+/g, "$1").replace(/ \S+\.partial_image/, "");
    expect(shown).toBe(names(once));
    expect(output).toEqual([last]);
  });

  test("grows in the fold of its events as it is told", () => {
    const { events } = play(tellWhole(type, inside));
    const done = events.findIndex((event) => event.type === "response.output_item.done");
    const [grown] = foldEvents(events.slice(0, done)).output;
    expect(shownIn(grown)).toEqual(shownIn(last));
  });

  test.each(["cancelled", "failed", "completed"] as const)(
    "that is open when the run has %s is closed at any moment",
    (ending) => {
      for (const count of inside.keys()) {
        const { output } = play([{ type: "item_started", item: first }, ...inside.slice(0, count)], ending);
        expect(output).toHaveLength(1);
        expect(output[0]).toMatchObject({ id: "it_1", type, ...CUT[type] });
      }
      const { output } = play([{ type: "item_started", item: first }, ...inside], ending);
      expect(output[0]).toMatchObject({ id: "it_1", type, ...CUT[type] });
    },
  );
});

/** What deltas show of an item. */
function shownIn(item: OutputItem | undefined): unknown {
  if (item?.type === "mcp_call") return item.arguments;
  if (item?.type === "code_interpreter_call") return item.code;
  if (item?.type === "shell_call") return item.action.commands;
  if (item?.type === "shell_call_output") return item.output;
  return item?.type === "apply_patch_call" ? item.operation : null;
}

const INCOMPLETE = { status: "incomplete" };

/** What tells that an item was cut. */
const CUT: Readonly<Record<Type, object>> = {
  web_search_call: INCOMPLETE,
  file_search_call: INCOMPLETE,
  code_interpreter_call: INCOMPLETE,
  image_generation_call: { status: "failed" },
  mcp_list_tools: { error: "The response ended before the list arrived." },
  mcp_call: INCOMPLETE,
  mcp_approval_request: {},
  computer_call: INCOMPLETE,
  local_shell_call: INCOMPLETE,
  shell_call: INCOMPLETE,
  shell_call_output: INCOMPLETE,
  apply_patch_call: { status: "in_progress" },
  tool_search_call: INCOMPLETE,
  tool_search_output: INCOMPLETE,
  program: {},
  program_output: INCOMPLETE,
};

describe("an item that failed", () => {
  test.each([
    ["web_search_call", "web_search_call.in_progress web_search_call.completed"],
    ["file_search_call", "file_search_call.in_progress file_search_call.completed"],
    ["image_generation_call", "image_generation_call.in_progress image_generation_call.completed"],
  ] as const)("%s has no step that it did not take, but its end", (type, expected) => {
    const { first } = SAMPLE_ITEMS[type]("it_1");
    const item: HostedItem = { ...first, status: "failed" };
    const { names: shown, output } = play([
      { type: "item_started", item: first },
      { type: "item_finished", item },
    ]);
    expect(shown).toBe(names(expected));
    expect(output).toEqual([item]);
  });

  test("an mcp_call tells that it failed, with what was written of its arguments", () => {
    const { first } = SAMPLE_ITEMS.mcp_call("it_1");
    const error = { type: "http_error", code: 504, message: "No answer." } as const;
    const { names: shown, output } = play([
      { type: "item_started", item: first },
      writes('{"at'),
      { type: "item_finished", item: { ...first, status: "failed", arguments: '{"at', error } },
    ]);
    expect(shown).toBe(names("mcp_call.in_progress mcp_call_arguments.delta mcp_call_arguments.done mcp_call.failed"));
    expect(output).toMatchObject([{ status: "failed", arguments: '{"at', error }]);
  });

  test("a list of tools tells that it failed", () => {
    const { first } = SAMPLE_ITEMS.mcp_list_tools("it_1");
    const item = { ...first, error: "No answer." };
    const { names: shown } = play([
      { type: "item_started", item: first },
      { type: "item_finished", item },
    ]);
    expect(shown).toBe(names("mcp_list_tools.in_progress mcp_list_tools.failed"));
  });
});

test("a call that waited for its approval is in progress twice, as in the reference", () => {
  const { first, last } = SAMPLE_ITEMS.mcp_call("it_1");
  const approval = { approval_request_id: "mcpr_1" };
  const { names: shown } = play([
    { type: "item_started", item: { ...first, ...approval } },
    { type: "item_finished", item: { ...last, ...approval } },
  ]);
  expect(shown).toBe(
    names(
      "mcp_call.in_progress mcp_call_arguments.delta mcp_call.in_progress mcp_call_arguments.done mcp_call.completed",
    ),
  );
});

test.each([
  ["shell_call", { action: { commands: [], max_output_length: null, timeout_ms: null } }],
  ["apply_patch_call", { operation: { type: "create_file", path: "a", diff: "" } }],
] as const)("a %s of the client's that did not become whole holds nothing that could be run", (type, left) => {
  const { first } = SAMPLE_ITEMS[type]("it_1");
  const { output, events } = play([{ type: "item_started", item: first }, writes("rm -r /"), written], "cancelled");
  expect(output).toMatchObject([{ ...CUT[type], ...left }]);
  expect(events.some((event) => "delta" in event && event.delta === "rm -r /")).toBe(true);
});

test("a shell_call of a container that did not become whole shows what was written", () => {
  const { first } = SAMPLE_ITEMS.shell_call("it_1");
  const environment = { type: "container_reference", container_id: "cntr_1" } as const;
  const { output } = play([{ type: "item_started", item: { ...first, environment } }, writes("ls")], "cancelled");
  expect(output).toMatchObject([{ status: "incomplete", action: { commands: ["ls"] } }]);
});

test("text that was shown is not taken back by the last form", () => {
  const { first, last } = SAMPLE_ITEMS.mcp_call("it_1");
  const { output } = play([
    { type: "item_started", item: first },
    writes('{"from":"Kobe"}'),
    { type: "item_finished", item: last },
  ]);
  expect(output).toMatchObject([{ arguments: '{"from":"Kobe"}', status: "completed" }]);
});

test("items, texts and calls of one response have one numbering", () => {
  const { names: shown, output } = play([
    { type: "text_delta", text: "I look." },
    ...tellWhole("web_search_call", []),
    { type: "text_delta", text: "Found." },
  ]);
  expect(output.map(({ type }) => type)).toEqual(["message", "web_search_call", "message"]);
  expect(shown).toContain("output_item.done output_item.added web_search_call.in_progress");
});

test("what tools used stands in the response, however it ends", () => {
  const { tool_usage: none } = aPlan().response;
  const usage = { ...none, web_search: { num_requests: 2 } };
  for (const ending of ["completed", "cancelled", "failed"] as const) {
    const { events } = play([{ type: "tool_usage", usage }], ending);
    expect(events.at(-1)).toMatchObject({ response: { tool_usage: usage } });
  }
});

test("a call of a hosted function never reaches a run", () => {
  expect(() => play([{ type: "call_started", kind: "hosted", callId: null, name: "web_search" }])).toThrow(
    "the tool loop answers the calls of hosted functions itself",
  );
});
