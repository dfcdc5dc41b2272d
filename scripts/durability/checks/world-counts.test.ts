import { expect, test } from "vitest";
import { Run } from "../runs/run.ts";
import type { Verdict } from "./judge-run.ts";
import { countEffects, countTurns } from "./world-counts.ts";

const UNKNOWN = { type: "mcp_protocol_error", message: "interrupted; whether it took effect is unknown" };

/** A run whose last event reports these steps. */
function verdictOf(steps: readonly { step: number; error: object | null }[]): Verdict {
  const run = new Run("run-1");
  const output = steps.map(({ step, error }) => ({
    type: "mcp_call",
    arguments: JSON.stringify({ run: "run-1", step }),
    status: error === null ? "completed" : "failed",
    error,
  }));
  const end = {
    type: "response.completed",
    sequence_number: 0,
    response: { id: "resp_1", status: "completed", output },
  };
  run.shown.take(JSON.stringify(end), { at: 0, connectedAt: 0 });
  return { run, status: "completed", findings: [] };
}

function act(step: number, actedAt: number | null = 2) {
  return { run: "run-1", step, calledAt: 1, actedAt };
}

test("effects that happened twice, that never happened, and those of which it is not known are told apart", () => {
  const steps = [
    { step: 0, error: null },
    { step: 1, error: UNKNOWN },
    { step: 2, error: UNKNOWN },
    { step: 3, error: null },
  ];
  expect(countEffects([act(0), act(0), act(1), act(2, null)], [verdictOf(steps)])).toEqual({
    acted: 2,
    twice: ["run-1 step 0 acted 2 times"],
    unknownActed: 1,
    unknownNever: 1,
    inventedDone: ["run-1 step 3"],
  });
});

test("a turn that had ended and was asked again is told from one that was cut", () => {
  const ask = (turn: number, askedAt: number, endedAt: number | null) => ({
    run: "run-1",
    turn,
    node: "left",
    askedAt,
    endedAt,
  });
  const asked = [ask(0, 1, 2), ask(0, 3, null), ask(0, 4, 5), ask(1, 6, null), ask(1, 7, 8), ask(2, 9, 10)];
  expect(countTurns(asked)).toEqual({ turns: 3, again: 2, cut: 1 });
});
