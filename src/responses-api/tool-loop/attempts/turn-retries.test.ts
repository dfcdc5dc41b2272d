import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { RetryBudget } from "./model-retries.ts";
import { TurnRetries } from "./turn-retries.ts";

const BUDGET: RetryBudget = { failuresMax: 4, withinMs: 60_000 };

function failure(retry: ModelError["retry"], retryAfterSeconds: number | null = null): ModelError {
  return new ModelError("busy", { status: 503, type: "server_error", retry, retryAfterSeconds });
}

/** The pauses after failures that follow each other at once. */
function pausesAfter(errors: readonly unknown[], budget = BUDGET, random = 1): readonly (number | null)[] {
  const retries = new TurnRetries(
    null,
    () => 0,
    () => random,
  );
  return errors.map((error) => retries.next(error, 1, budget));
}

verifies("models.retries.passing-faults");

test.each<[string, readonly unknown[], readonly (number | null)[]]>([
  [
    "doubles the longest pause each time, up to the limit of failures",
    Array(5).fill(failure("often")),
    [500, 1000, 2000, 4000, null],
  ],
  ["asks once more after a broken protocol", [failure("once"), failure("once")], [500, null]],
  ["ends at once after a lasting fault", [failure("never")], [null]],
  ["ends at once after a fault of this server", [new Error("ours")], [null]],
  ["waits as long as the model server asks for", [failure("often", 7)], [7500]],
  ["ends if that is longer than its time", [failure("often", 61)], [null]],
])("%s", (_name, errors, expected) => {
  expect(pausesAfter(errors)).toEqual(expected);
});

test("pauses are spread from 0 on", () => {
  expect(pausesAfter([failure("often"), failure("often")], BUDGET, 0)).toEqual([0, 0]);
});

test("no pause is longer than a minute", () => {
  const pauses = pausesAfter(Array(12).fill(failure("often")), { failuresMax: 20, withinMs: 10 ** 9 });
  expect(Math.max(...pauses.map(Number))).toBe(60_000);
});

describe("failures", () => {
  test("are counted for each turn, and on over a suspension", () => {
    const before = new TurnRetries(
      null,
      () => 1_000,
      () => 0,
    );
    for (const turn of [1, 1, 2, 2, 2]) before.next(failure("often"), turn, BUDGET);
    expect(before.attempts).toEqual({ turn: 2, failures: 3, since: 1_000 });
    const after = new TurnRetries(
      before.attempts,
      () => 2_000,
      () => 0,
    );
    expect([after.next(failure("often"), 2, BUDGET), after.next(failure("often"), 2, BUDGET)]).toEqual([0, null]);
  });

  test("end when the time since the first of them is over", () => {
    let now = 0;
    const retries = new TurnRetries(
      null,
      () => now,
      () => 1,
    );
    expect(retries.next(failure("often"), 1, BUDGET)).toBe(500);
    now = 59_500;
    expect(retries.next(failure("often"), 1, BUDGET)).toBeNull();
  });
});
