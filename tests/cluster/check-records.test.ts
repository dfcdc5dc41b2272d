import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { faultsInLog, faultsInView } from "./check-records.ts";
import { View } from "./view.ts";

const WORDS = ["It ", "is ", "late"];

/** The events of a response that says these words. */
function logOf(words: readonly string[]): readonly ResponseStreamEvent[] {
  const deltas = words.map((delta) => ({ type: "response.output_text.delta", delta }));
  const text = JSON.stringify([{ type: "response.created" }, ...deltas, { type: "response.completed" }]);
  const events: readonly ResponseStreamEvent[] = JSON.parse(text);
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** A client that was shown the events of a log in these places. */
function viewOf(log: readonly ResponseStreamEvent[], ...places: readonly number[]): View {
  const view = new View("stream", "say-1", false);
  for (const place of places) {
    const event = log[place];
    if (event !== undefined) view.take(event);
  }
  return view;
}

test("a view that is how the log begins has no fault", () => {
  const log = logOf(WORDS);
  const view = viewOf(log, 0, 1, 2);
  expect([...faultsInLog(log), ...view.faults, ...faultsInView(view, log)]).toEqual([]);
});

test("an event that was shown and is gone is a fault", () => {
  const log = logOf(WORDS);
  expect(faultsInView(viewOf(log, 0, 1, 2, 3), log.slice(0, 3))).toMatchObject([expect.stringContaining("now gone")]);
});

test("another text under a number that was shown is a fault", () => {
  const [log, later] = [logOf(WORDS), logOf(["It ", "was ", "late"])];
  expect(faultsInView(viewOf(log, 0, 1, 2), later)).toMatchObject([expect.stringContaining("event 2 was shown as")]);
});

test("events that come twice or leave some out are faults", () => {
  const log = logOf(WORDS);
  expect(viewOf(log, 0, 1, 1).faults).toEqual(["event 1 came twice"]);
  expect(viewOf(log, 0, 2).faults).toEqual(["event 2 came after 0"]);
});

test("a log with a gap, with two ends or with none is at fault", () => {
  const log = logOf(WORDS);
  const last = log.at(-1);
  expect(faultsInLog(log.toSpliced(1, 1))).toMatchObject([expect.stringContaining("has event 2 in place 1")]);
  expect(faultsInLog(log.slice(0, -1))).toMatchObject([expect.stringContaining("has ends at []")]);
  expect(faultsInLog([...log, ...(last === undefined ? [] : [{ ...last, sequence_number: log.length }])])).toHaveLength(
    1,
  );
});
