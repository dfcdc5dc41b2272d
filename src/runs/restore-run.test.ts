import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResponseStreamEvent } from "../../generated/responses-api/types.ts";
import { validateResponseStreamEvent } from "../../generated/responses-api/validators.js";
import { foldEvents } from "./fold/fold-events.ts";
import { numberEvent } from "./numbering.ts";
import { type RecordedEvent, RecordedWhole } from "./ports.ts";
import { restoreRun } from "./restore-run.ts";
import { aPlan } from "./run.fixture.ts";
import { INTERRUPTED_FAILURE } from "./run-failures.ts";
import type { RunPlan, RunSignal, RunState } from "./run-state.ts";
import { anySignal } from "./signals.fixture.ts";
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
  const runs = fc.tuple(fc.array(anySignal(), { maxLength: 40 }), fc.boolean(), fc.boolean(), fc.nat());

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
