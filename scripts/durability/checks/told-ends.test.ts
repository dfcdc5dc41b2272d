import { expect, test } from "vitest";
import { Run } from "../runs/run.ts";
import { judgeToldEnds } from "./told-ends.ts";

function endedRun(id: string) {
  const run = new Run(id);
  run.id = id;
  const end = { type: "response.completed", sequence_number: 0, response: { id } };
  run.shown.take(JSON.stringify(end), { at: 0, connectedAt: 0 });
  return { run, status: "completed", findings: [] };
}

function arrival(responseId: string, eventId: string, isAccepted: boolean) {
  return { responseId, eventId, isAccepted };
}

test("an end that came again under its name is told once", () => {
  const arrivals = [arrival("a", "evt_1", false), arrival("a", "evt_1", true)];
  expect(judgeToldEnds(arrivals, [endedRun("a")])).toEqual({
    accepted: 1,
    repeated: 1,
    missing: [],
    severalEvents: [],
  });
});

test("an end that was never accepted is missing, and one under two names is found", () => {
  const arrivals = [arrival("a", "evt_1", false), arrival("b", "evt_2", true), arrival("b", "evt_3", true)];
  const judged = judgeToldEnds(arrivals, [endedRun("a"), endedRun("b"), endedRun("c")]);
  expect(judged).toMatchObject({ accepted: 1, missing: ["a", "c"], severalEvents: ["b"] });
});

test("a run without an end is not missed", () => {
  expect(judgeToldEnds([], [{ run: new Run("a"), status: "never created", findings: [] }]).missing).toEqual([]);
});
