import { expect, test } from "vitest";
import { Run } from "../runs/run.ts";
import type { Fault } from "../runs/trouble.ts";
import { measureTakeover } from "./takeover.ts";

/** A run of which these events were shown, at these times and over connections opened at these. */
function runOf(name: string, events: readonly { at: number; connectedAt: number }[]): Run {
  const run = new Run(name);
  for (const [number, times] of events.entries())
    run.shown.take(JSON.stringify({ type: "response.in_progress", sequence_number: number }), times);
  return run;
}

function ask(run: string, node: string, askedAt: number) {
  return { run, turn: 0, node, askedAt, endedAt: null };
}

function kill(at: number, runs: readonly Run[]): Fault {
  const found = runs.map((run) => ({ run, phase: "text" as const, shownTo: 0 }));
  return { kind: "kill", isAway: false, node: "left", beganAt: at, at, found };
}

test("only runs of the killed node are measured, from the kill to what was not in flight then", () => {
  const events = [
    { at: 900, connectedAt: 800 },
    { at: 1005, connectedAt: 800 },
    { at: 3000, connectedAt: 1500 },
  ];
  const ours = runOf("run-1", events);
  const others = runOf("run-2", events);
  const turns = [ask("run-1", "left", 850), ask("run-2", "right", 850), ask("run-1", "left", 1010)];
  const history = { turns: [...turns, ask("run-1", "right", 2500), ask("run-2", "right", 2600)], calls: [] };
  const observed = { faults: [kill(1000, [ours, others])], completed: new Set([ours, others]), history };
  expect(measureTakeover(observed, () => true)).toEqual({ toEvent: [2000], toWork: [1500] });
});

test("a run that the next kill finds before it went on is not measured, and neither is one that did not complete", () => {
  const run = runOf("run-1", [
    { at: 900, connectedAt: 800 },
    { at: 3000, connectedAt: 2500 },
  ]);
  const history = { turns: [ask("run-1", "left", 850), ask("run-1", "left", 2600)], calls: [] };
  const faults = [kill(1000, [run]), kill(2000, [run])];
  expect(measureTakeover({ faults, completed: new Set([run]), history }, () => true).toEvent).toEqual([1000]);
  expect(measureTakeover({ faults, completed: new Set<Run>(), history }, () => true).toEvent).toEqual([]);
});
