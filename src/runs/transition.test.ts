import type { Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import {
  validateInputItem,
  validateResponse,
  validateResponseStreamEvent,
} from "@antiphon/contracts/responses-api/validators.js";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { foldEvents } from "./fold/fold-events.ts";
import { numberEvent } from "./numbering.ts";
import { aPlan } from "./run.fixture.ts";
import type { RunPlan, RunSignal, RunState } from "./run-state.ts";
import { anySignals } from "./signals.fixture.ts";
import { initialState, transition, transitionAll } from "./transition.ts";

interface Run {
  readonly events: readonly ResponseStreamEvent[];
  readonly state: RunState;
}

/** Sends signals to a new run and numbers its events. */
function play(signals: readonly RunSignal[], plan: RunPlan = aPlan()): Run {
  let state = initialState(plan);
  const events: ResponseStreamEvent[] = [];
  for (const heard of signals) {
    const next = transition(state, heard);
    state = next.state;
    for (const event of next.events) events.push(numberEvent(event, events.length));
  }
  return { events, state };
}

const accepted: RunSignal = { type: "accepted" };
const ended: RunSignal = { type: "model_ended", at: 1_800_000_005 };
const says = (text: string): RunSignal => ({ type: "model", event: { type: "text_delta", text } });
const hears = (event: ModelEvent): RunSignal => ({ type: "model", event });
const stops = hears({ type: "finished", reason: "stop" });

/** Compares the event types after `created` and `in_progress`, without the prefix `response.`. */
function check(signals: readonly RunSignal[], expected: string, plan?: RunPlan): Run {
  const run = play([accepted, ...signals], plan);
  const names = run.events.slice(2).map((event) => event.type.replace("response.", ""));
  expect(names.join(" ")).toBe(expected);
  return run;
}

function finalOf(run: Run): Response {
  if (run.state.phase !== "ended") throw new Error("the run has not ended");
  return run.state.response;
}

const TEXT_BEGIN = "output_item.added content_part.added";
const RAW =
  "output_item.added content_part.added reasoning_text.delta reasoning_text.done content_part.done output_item.done";
const TEXT_END = "output_text.done content_part.done output_item.done";

describe("a message", () => {
  test("is announced, grows, and is closed before the response completes", () => {
    verifies("responses.stream.text-block-order");
    const run = check(
      [says("Hel"), says("lo"), stops, ended],
      `${TEXT_BEGIN} output_text.delta output_text.delta ${TEXT_END} completed`,
    );
    expect(finalOf(run)).toMatchObject({ status: "completed", completed_at: 1_800_000_005 });
  });

  test("without any text is still announced and closed", () => {
    check([stops, ended], `${TEXT_BEGIN} ${TEXT_END} completed`);
  });

  test("cut by the token limit is incomplete, and so is the response", () => {
    const run = check(
      [says("Hel"), hears({ type: "finished", reason: "length" }), ended],
      `${TEXT_BEGIN} output_text.delta ${TEXT_END} incomplete`,
    );
    expect(finalOf(run)).toMatchObject({
      status: "incomplete",
      completed_at: null,
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete" }],
    });
  });

  test("that turns into a refusal gets a second part", () => {
    check(
      [says("I"), hears({ type: "refusal_delta", text: "No." }), stops, ended],
      `${TEXT_BEGIN} output_text.delta output_text.done content_part.done content_part.added refusal.delta refusal.done content_part.done output_item.done completed`,
    );
  });

  test("of each phase is an item of its own", () => {
    const run = check(
      [
        hears({ type: "message_started", phase: "commentary" }),
        says("Looking."),
        hears({ type: "message_started", phase: "final_answer" }),
        says("Found."),
        stops,
        ended,
      ],
      `${TEXT_BEGIN} output_text.delta ${TEXT_END} ${TEXT_BEGIN} output_text.delta ${TEXT_END} completed`,
    );
    expect(finalOf(run).output).toMatchObject([{ phase: "commentary" }, { phase: "final_answer" }]);
  });
});

describe("reasoning", () => {
  test("keeps what only its model server can read, and nothing else, in its seal", () => {
    const sealReasoning = (...parts: readonly unknown[]): string => JSON.stringify(parts);
    const sealed = hears({ type: "reasoning_sealed", sealedText: "gAAA" });
    const run = check(
      [
        sealed,
        hears({ type: "message_finished" }),
        thinks,
        sealed,
        hears({ type: "message_finished" }),
        thinks,
        stops,
        ended,
      ],
      `output_item.added output_item.done ${RAW} ${RAW} completed`,
      aPlan({ sealReasoning }),
    );
    const seals = finalOf(run).output.map((item) => (item.type === "reasoning" ? item.encrypted_content : null));
    const ids = finalOf(run).output.map(({ id }) => id);
    expect(seals).toEqual([
      JSON.stringify(["", ids[0], "gAAA"]),
      JSON.stringify(["Hm.", ids[1], "gAAA"]),
      JSON.stringify(["Hm.", ids[2], null]),
    ]);
  });

  const thinks = hears({ type: "reasoning_delta", text: "Hm." });

  test("is an item of raw text before the message", () => {
    check(
      [thinks, says("Yes"), stops, ended],
      `output_item.added content_part.added reasoning_text.delta reasoning_text.done content_part.done output_item.done ${TEXT_BEGIN} output_text.delta ${TEXT_END} completed`,
    );
  });

  test("is shown as a summary when one was asked for", () => {
    check(
      [thinks, stops, ended],
      "output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done completed",
      aPlan({ rawReasoningAs: "summary" }),
    );
  });

  test("has as many summary parts as the model made", () => {
    const part = hears({ type: "reasoning_summary_delta", text: "Part." });
    const run = check(
      [part, hears({ type: "reasoning_summary_break" }), part, stops, ended],
      "output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done completed",
    );
    expect(finalOf(run).output).toMatchObject([{ summary: [{ text: "Part." }, { text: "Part." }] }]);
  });
});

describe("a call", () => {
  const calls = (callId: string | null, kind: "function" | "custom" = "function"): RunSignal =>
    hears({ type: "call_started", kind, callId, name: "look_up" });
  const writes = (text: string): RunSignal => hears({ type: "call_delta", text });
  const FUNCTION = "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done";

  test("of a function completes the response", () => {
    const run = check([calls("call_1"), writes("{}"), stops, ended], `${FUNCTION} completed`);
    expect(finalOf(run).output).toMatchObject([
      { type: "function_call", call_id: "call_1", arguments: "{}", status: "completed" },
    ]);
  });

  test("without arguments gets an empty object, in one delta", () => {
    check([calls("call_1"), stops, ended], `${FUNCTION} completed`);
  });

  test("after another call is a new item with its own id", () => {
    const run = check(
      [calls("same"), writes("{}"), calls("same"), writes("{}"), stops, ended],
      `${FUNCTION} ${FUNCTION} completed`,
    );
    const ids = finalOf(run).output.map((item) => ("call_id" in item ? item.call_id : null));
    expect(new Set(ids).size).toBe(2);
  });

  test("of a custom tool streams its input", () => {
    check(
      [calls("call_1", "custom"), writes("print(1)"), stops, ended],
      "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done completed",
    );
  });
});

describe("a search for tools", () => {
  test("is one item whose arguments are empty until it is done", () => {
    const search = hears({ type: "tool_search", callId: "call_1", arguments: { query: "files" } });
    const run = check([search, stops, ended], "output_item.added output_item.done completed");
    const item = {
      id: expect.stringMatching(/^tsc_/),
      type: "tool_search_call",
      status: "completed",
      arguments: { query: "files" },
      call_id: "call_1",
      execution: "client",
    };
    expect(finalOf(run).output).toEqual([item]);
    const added = run.events.find((event) => event.type === "response.output_item.added");
    expect(added).toMatchObject({ item: { ...item, status: "in_progress", arguments: {} } });
  });
});

describe("a compaction", () => {
  test("is one whole item, whether or not the message before it was ended", () => {
    verifies("responses.stream.compaction-order");
    const sealed = hears({ type: "compaction", encryptedContent: "sealed" });
    const ending = hears({ type: "message_finished" });
    const expected = `${TEXT_BEGIN} output_text.delta ${TEXT_END} output_item.added output_item.done completed`;
    const run = check([says("Hi"), sealed, stops, ended], expected);
    expect(play([accepted, says("Hi"), ending, ending, sealed, stops, ended]).events).toEqual(run.events);
    const [, compaction] = finalOf(run).output;
    expect(compaction).toEqual({ id: expect.stringMatching(/^cmp_/), type: "compaction", encrypted_content: "sealed" });
    check([sealed, stops, ended], "output_item.added output_item.done completed");
  });
});

describe("the end of a run", () => {
  const failed: RunSignal = {
    type: "model_failed",
    failure: {
      type: "server_error",
      code: "server_error",
      message: "gone",
      param: null,
      responseCode: "server_error" as const,
    },
  };

  test("by failure is an error event and then the failed response", () => {
    const run = check([failed], "error failed");
    expect(finalOf(run)).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "gone" },
      usage: null,
    });
  });

  test("by failure closes what was open", () => {
    check([says("Hel"), failed], `${TEXT_BEGIN} output_text.delta ${TEXT_END} error failed`);
  });

  test("without a finish reason is a failure", () => {
    check([says("Hel"), ended], `${TEXT_BEGIN} output_text.delta ${TEXT_END} error failed`);
  });

  test("by cancelling is response.failed with a cancelled response", () => {
    const run = check(
      [says("Hel"), { type: "cancelled" }, says("late"), stops, ended],
      `${TEXT_BEGIN} output_text.delta ${TEXT_END} failed`,
    );
    expect(finalOf(run).status).toBe("cancelled");
  });
});

describe("whatever a model does", () => {
  const runs = fc.tuple(anySignals(60), fc.boolean(), fc.boolean());

  function anyRun(holds: (run: Run) => void): void {
    fc.assert(
      fc.property(runs, ([signals, summarized, sealed]) => {
        const plan = aPlan({
          rawReasoningAs: summarized ? "summary" : "text",
          sealReasoning: sealed ? (text, id) => `sealed:${id}:${text.length}` : null,
        });
        holds(play([accepted, ...signals, ended], plan));
      }),
      { numRuns: 300 },
    );
  }

  test("event numbers begin at 0 and have no gap", () => {
    verifies("responses.stream.sequence-numbers-are-dense");
    anyRun(({ events }) =>
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index)),
    );
  });

  test("exactly one event ends the run, and it is the last", () => {
    const terminal = ["response.completed", "response.incomplete", "response.failed"];
    anyRun(({ events }) => {
      const places = events.flatMap((event, index) => (terminal.includes(event.type) ? [index] : []));
      expect(places).toEqual([events.length - 1]);
    });
  });

  test("each item is closed with its own index and id before the next one opens", () => {
    anyRun(({ events }) => {
      const open = new Map<number, string>();
      for (const event of events) {
        if (event.type === "response.output_item.added") {
          expect(open.size).toBe(0);
          open.set(event.output_index, event.item.id ?? "");
        } else if (event.type === "response.output_item.done") {
          expect(event.item.id).toBe(open.get(event.output_index));
          open.delete(event.output_index);
        } else if ("item_id" in event) {
          expect(open.get(event.output_index)).toBe(event.item_id);
        }
      }
      expect(open.size).toBe(0);
    });
  });

  test("the fold of the events is the final response", () => {
    anyRun((run) => expect(foldEvents(run.events)).toEqual(finalOf(run)));
  });

  test("the deltas of a text add up to the text of its done event", () => {
    anyRun(({ events }) => {
      const texts = new Map<string, string>();
      for (const event of events) {
        if ("delta" in event && "item_id" in event) {
          const key = `${event.item_id}/${"summary_index" in event ? `s${event.summary_index}` : "content_index" in event ? event.content_index : ""}`;
          texts.set(key, (texts.get(key) ?? "") + (typeof event.delta === "string" ? event.delta : ""));
        }
        if (event.type === "response.output_text.done")
          expect(texts.get(`${event.item_id}/${event.content_index}`) ?? "").toBe(event.text);
        if (event.type === "response.function_call_arguments.done")
          expect(texts.get(`${event.item_id}/`) ?? "").toBe(event.arguments);
        if (event.type === "response.reasoning_summary_text.done")
          expect(texts.get(`${event.item_id}/s${event.summary_index}`)).toBe(event.text);
      }
    });
  });

  test("every event and the body match the contract", () => {
    anyRun((run) => {
      for (const event of run.events) {
        const valid: boolean = validateResponseStreamEvent(event);
        expect(valid, `${event.type}: ${JSON.stringify(validateResponseStreamEvent.errors)}`).toBe(true);
      }
      expect(validateResponse(finalOf(run)), JSON.stringify(validateResponse.errors)).toBe(true);
    });
  });

  test("any output item is valid as input", () => {
    anyRun((run) => {
      for (const item of finalOf(run).output) {
        expect(validateInputItem(item), JSON.stringify(validateInputItem.errors)).toBe(true);
      }
    });
  });
});

test("events that arrive together have the effect of each of them alone", () => {
  const batches = fc.array(anySignals(12), { maxLength: 6 });
  fc.assert(
    fc.property(batches, (signals) => {
      const heard = signals.map((batch) => batch.flatMap((signal) => (signal.type === "model" ? [signal.event] : [])));
      const alone = play([accepted, ...heard.flat().map(hears), ended]);
      let { state } = transition(initialState(aPlan()), accepted);
      const together = heard.flatMap((batch) => {
        const next = transitionAll(state, batch);
        state = next.state;
        return next.events;
      });
      const end = transition(state, ended);
      const numbered = [...together, ...end.events].map((event, index) => numberEvent(event, index + 2));
      expect(numbered).toEqual(alone.events.slice(2));
      expect(end.state).toEqual(alone.state);
    }),
  );
});
