import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { validateResponseStreamEvent } from "@antiphon/contracts/responses-api/validators.js";
import type { HostedItem, HostedItemEvent } from "@antiphon/domain/models/hosted.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { lintEvents } from "@antiphon/stream-grammar/stream-linter.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { foldEvents } from "./fold/fold-events.ts";
import { numberEvent } from "./numbering.ts";
import { type RecordedEvent, RecordedWhole } from "./recorded-event.ts";
import { restoreRun } from "./restore-run.ts";
import { aPlan } from "./run.fixture.ts";
import { INTERRUPTED_FAILURE } from "./run-failures.ts";
import type { RunPlan, RunSignal, RunState } from "./run-state.ts";
import { anySignals, PARTIAL_IMAGE } from "./signals.fixture.ts";
import { initialState, transition } from "./transition.ts";

const interrupted: RunSignal = { type: "model_failed", failure: INTERRUPTED_FAILURE };

/** The events of each signal, one batch per signal. */
function play(signals: readonly RunSignal[], plan: RunPlan): readonly (readonly RecordedEvent[])[] {
  let state: RunState = initialState(plan);
  let number = 0;
  return signals.map((signal) => {
    const next = transition(state, signal);
    state = next.state;
    return next.events.map((unnumbered) => {
      const event: ResponseStreamEvent = structuredClone(numberEvent(unnumbered, number));
      number += 1;
      return RecordedWhole.of(event);
    });
  });
}

/** All events of a run that broke off after `logged`, with the end that was added later. */
function endedAfter(logged: readonly RecordedEvent[], plan: RunPlan): readonly ResponseStreamEvent[] {
  const { events } = restoreRun(plan, logged).end(interrupted);
  return [
    ...logged.map(({ event }) => event),
    ...events.map((event, index) => numberEvent(event, logged.length + index)),
  ];
}

describe("a run that broke off", () => {
  const runs = fc.tuple(anySignals(40), fc.boolean(), fc.boolean(), fc.nat());

  function anyBrokenRun(holds: (events: readonly ResponseStreamEvent[], loggedCount: number) => void): void {
    fc.assert(
      fc.property(runs, ([signals, summarized, sealed, at]) => {
        const plan = aPlan({
          rawReasoningAs: summarized ? "summary" : "text",
          sealReasoning: sealed ? (text, id) => `sealed:${id}:${text.length}` : null,
        });
        const lives = signals.filter(({ type }) => type === "model");
        const batches = play([{ type: "accepted" }, ...lives], plan);
        const logged = batches.slice(0, 1 + (at % batches.length)).flat();
        holds(endedAfter(logged, plan), logged.length);
      }),
      { numRuns: 500 },
    );
  }

  test("closes each open item once", () => {
    anyBrokenRun((events) => {
      const added = events.flatMap((event) => (event.type === "response.output_item.added" ? [event.item.id] : []));
      const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item.id] : []));
      expect(done).toEqual(added);
    });
  });

  test("ends with an error and response.failed, and has no gap in its numbers", () => {
    anyBrokenRun((events) => {
      expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
      expect(events.filter(({ type }) => type === "response.failed")).toHaveLength(1);
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    });
  });

  test("sends events that match the contract, and its last snapshot holds the items that were sent", () => {
    anyBrokenRun((events, loggedCount) => {
      for (const event of events.slice(loggedCount)) {
        expect(validateResponseStreamEvent(event), JSON.stringify(validateResponseStreamEvent.errors)).toBe(true);
      }
      const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
      expect(foldEvents(events).output.map(({ id }) => id)).toEqual(done.map(({ id }) => id));
    });
  });
});

describe.each(Object.keys(SAMPLE_ITEMS).filter(isHostedType))("a run that broke off at any event of a %s", (type) => {
  const { first, last } = SAMPLE_ITEMS[type]("it_1");
  const approved = type === "mcp_call" ? { approval_request_id: "mcpr_1" } : {};

  test.each<[string, readonly HostedItemEvent[], object]>([
    ["whose steps and texts are told", TOLD, {}],
    ["whose first and last form alone are told", [], {}],
    ["that was approved", TOLD, approved],
  ])("%s ends legally, and each item ends once", (_name, inside, members) => {
    const told: readonly ModelEvent[] = [
      { type: "text_delta", text: "I look." },
      { type: "item_started", item: { ...first, ...members } },
      ...inside,
      { type: "item_finished", item: { ...last, ...members } },
    ];
    const plan = aPlan();
    const shown = play(
      [{ type: "accepted" }, ...told.map((event) => ({ type: "model", event }) as const)],
      plan,
    ).flat();
    const begun = shown.findLastIndex((event) => event.type === "response.output_item.added");
    for (let count = begun + 1; count <= shown.length; count++) {
      const events = endedAfter(shown.slice(0, count), plan);
      expect(lintEvents(structuredClone(events)).faults, `cut after ${shown[count - 1]?.type}`).toEqual([]);
      expect(foldEvents(events)).toEqual(lastSnapshot(events));
      for (const event of events) expect(validateResponseStreamEvent(event), event.type).toBe(true);
      const { events: more } = restoreRun(plan, shown.slice(0, count)).end({ type: "cancelled" });
      expect(more.at(-1)).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
    }
  });
});

/** Told of every item; each item hears what it has. */
const TOLD: readonly HostedItemEvent[] = [
  { type: "item_delta", text: "ls" },
  { type: "item_delta", text: " -l" },
  { type: "item_written" },
  { type: "item_step", step: { type: "searching" } },
  { type: "item_step", step: { type: "interpreting" } },
  { type: "item_step", step: { type: "generating" } },
  { type: "item_step", step: { type: "command_printed", stdout: "a\n", stderr: "" } },
  { type: "item_step", step: PARTIAL_IMAGE },
];

function isHostedType(type: string): type is HostedItem["type"] {
  return Object.hasOwn(SAMPLE_ITEMS, type);
}

function lastSnapshot(events: readonly ResponseStreamEvent[]): unknown {
  const last = events.at(-1);
  return last !== undefined && "response" in last ? last.response : null;
}

test("a run without readable events still gets an end", () => {
  expect(endedAfter([], aPlan()).map(({ type }) => type)).toEqual(["error", "response.failed"]);
});

describe("a background run", () => {
  const plan = aPlan({ response: { ...aPlan().response, status: "queued", background: true } });
  const logged = (...signals: readonly RunSignal[]) => play(signals, plan).flat();

  test.each([
    ["queued", [{ type: "queued" }]],
    ["started", [{ type: "queued" }, { type: "accepted" }]],
  ] as const)("that was only %s has no answer and continues where it was", (_name, signals) => {
    const restored = restoreRun(plan, logged(...signals));
    expect(restored.hasAnswer).toBe(false);
    const next = transition(restored.state, { type: "accepted" });
    expect(next.events.map(({ type }) => type)).toEqual(signals.length === 1 ? ["response.in_progress"] : []);
  });

  test("that sent a text delta has an answer", () => {
    const events = logged(
      { type: "queued" },
      { type: "accepted" },
      { type: "model", event: { type: "text_delta", text: "Hm" } },
    );
    expect(restoreRun(plan, events).hasAnswer).toBe(true);
    expect(endedAfter(events, plan).map(({ type }) => type)).toContain("response.output_text.done");
  });
});

describe("a run can go on", () => {
  const plan = aPlan({ response: { ...aPlan().response, status: "queued", background: true } });
  const { first, last } = SAMPLE_ITEMS.mcp_call("mcp_1");
  const shownAfter = (...events: readonly ModelEvent[]) => {
    const signals: readonly RunSignal[] = [
      { type: "queued" },
      { type: "accepted" },
      ...events.map((event) => ({ type: "model", event }) as const),
    ];
    return restoreRun(plan, play(signals, plan).flat());
  };

  test("within a call of a tool", () => {
    const { shownAnswer } = shownAfter({ type: "reasoning_delta", text: "Hm" }, { type: "item_started", item: first });
    expect(shownAnswer).toMatchObject({
      output: [{ type: "reasoning" }],
      open: { type: "hosted", item: { id: "mcp_1" } },
    });
  });

  test("after a call of a tool", () => {
    const { shownAnswer } = shownAfter({ type: "item_started", item: first }, { type: "item_finished", item: last });
    expect(shownAnswer).toMatchObject({ output: [{ id: "mcp_1" }], open: null });
  });

  test("within reasoning of which nothing is shown, which ends as it is", () => {
    const { shownAnswer } = shownAfter({ type: "reasoning_sealed", sealedText: "gAAA" });
    expect(shownAnswer).toMatchObject({
      output: [],
      open: { type: "reasoning", item: { type: "reasoning", content: [] } },
    });
  });

  test("within reasoning, which ends as it is", () => {
    const { state, shownAnswer } = shownAfter({ type: "reasoning_delta", text: "Hm" });
    const item = { type: "reasoning", content: [{ type: "reasoning_text", text: "Hm" }] };
    expect(shownAnswer).toMatchObject({ output: [], open: { type: "reasoning", item } });
    const ended = transition(state, { type: "model", event: { type: "turn_cut" } });
    expect(ended.events.at(-1)?.type).toBe("response.output_item.done");
    expect(ended.state).toMatchObject({ open: null, output: [item] });
  });

  test("and says whether its sound has begun, and ended", () => {
    const sound: ModelEvent = { type: "audio_delta", audio: "AAAA" };
    const call: readonly ModelEvent[] = [
      { type: "text_delta", text: "Hm" },
      { type: "item_started", item: first },
    ];
    expect(shownAfter(...call).shownAnswer?.sound).toBe("not begun");
    expect(shownAfter(sound, ...call).shownAnswer?.sound).toBe("open");
    expect(shownAfter(sound, { type: "audio_done" }, ...call).shownAnswer?.sound).toBe("over");
  });

  test.each<[string, readonly ModelEvent[], object]>([
    ["a message", [{ type: "text_delta", text: "Hm" }], { type: "message", text: "Hm", isPlain: true }],
    ["a message without text", [{ type: "message_started" }], { type: "message", text: "", isPlain: true }],
    ["a refusal", [{ type: "refusal_delta", text: "No" }], { type: "message", text: "", isPlain: false }],
    [
      "a call of the client",
      [
        { type: "call_started", kind: "function", callId: null, name: "f" },
        { type: "call_delta", text: "{" },
      ],
      { type: "call", kind: "function", name: "f", namespace: null, text: "{" },
    ],
  ])("within %s, with the text that was shown", (_name, events, open) => {
    expect(shownAfter(...events).shownAnswer).toEqual({ output: [], open, sound: "not begun" });
  });

  test("after a message that is whole, and after one that broke off", () => {
    const text: ModelEvent = { type: "text_delta", text: "Hm" };
    const whole = shownAfter(text, { type: "message_finished" });
    expect(whole.shownAnswer).toMatchObject({ output: [{ type: "message", status: "completed" }], open: null });
    const cut = shownAfter(text, { type: "turn_cut" });
    expect(cut.shownAnswer).toMatchObject({ output: [{ type: "message", status: "incomplete" }], open: null });
    const events = cut.end({ type: "model_ended", at: 0 }).events;
    expect(events.at(-1)).toMatchObject({ response: { output: [{ status: "incomplete" }] } });
  });
});

describe("events that another release has stored", () => {
  const plan = aPlan({ response: { ...aPlan().response, status: "queued", background: true } });
  const call = SAMPLE_ITEMS.mcp_call("mcp_1");
  const logged = play(
    [
      { type: "queued" },
      { type: "accepted" },
      { type: "model", event: { type: "reasoning_delta", text: "Hm" } },
      { type: "model", event: { type: "item_started", item: call.first } },
      { type: "model", event: { type: "item_finished", item: call.last } },
      { type: "model", event: { type: "text_delta", text: "Well" } },
    ],
    plan,
  ).flat();

  verifies("state.crash.older-events");

  const inside = logged.flatMap(({ type }, index) =>
    type.startsWith("response.output_item.") || index < 3 || index === logged.length - 1
      ? []
      : [[type, index] as const],
  );

  test.each(inside)("without %s (%i) are gone on with, and the items are as they were logged", (_type, left) => {
    const events = logged.filter((_event, index) => index !== left);
    const ended = events.flatMap(({ event }) => (event.type === "response.output_item.done" ? [event.item] : []));
    const restored = restoreRun(plan, events);
    const { shownAnswer } = restored;
    expect(shownAnswer?.output).toEqual(ended);
    expect(shownAnswer?.open).toMatchObject({ type: "message", text: "Well" });
    expect(restored.end(interrupted).events.at(-1)?.type).toBe("response.failed");
  });
});
