import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import type { UnmadeRun } from "../../runs/ports/run-ledger.ts";
import { type ClaimLimits, chooseClaims, unreadableRuns } from "./choose-claims.ts";

const run = (responseId: string, members: Partial<UnmadeRun> = {}): UnmadeRun => ({
  responseId,
  from: "dead",
  needsPlace: true,
  taskVersion: 3,
  ...members,
});
const RUNS = ["a", "b", "c", "d", "e"].map((id) => run(id));
const LIMITS: ClaimLimits = { places: 10, taskVersion: 3, isGivenUp: () => false };

function chosen(runs: readonly UnmadeRun[], workers: number, limits: Partial<ClaimLimits> = {}): string {
  return chooseClaims({ runs, workers, taskVersion: 3 }, { ...LIMITS, ...limits })
    .map(({ responseId }) => responseId)
    .join("");
}

verifies("state.claims.by-places");

test("a worker takes its part of the runs, the first ones of the list", () => {
  expect([1, 2, 3].map((workers) => chosen(RUNS, workers))).toEqual(["abcde", "abc", "ab"]);
});

test("a worker takes no more runs than it has places, but ends all that only have to be ended", () => {
  expect(chosen(RUNS, 1, { places: 2 })).toBe("ab");
  expect(chosen([run("x", { needsPlace: false }), ...RUNS], 1, { places: 0 })).toBe("x");
});

test("tasks of a later release are left to others, until they are given up", () => {
  const runs = [run("new", { taskVersion: 4 }), run("old", { taskVersion: null })];
  expect(chosen(runs, 1)).toBe("old");
  expect(chosen(runs, 1, { places: 0, isGivenUp: (id) => id === "new" })).toBe("new");
  expect(unreadableRuns({ runs, workers: 2, taskVersion: 3 })).toEqual(["new"]);
  expect(unreadableRuns({ runs, workers: 2, taskVersion: 4 })).toEqual([]);
});
