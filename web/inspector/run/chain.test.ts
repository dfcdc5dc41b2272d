import { expect, test } from "vitest";
import { asTree, type ChainRun } from "./chain.ts";

/** Runs by their letters, each with the letter of the one before it, oldest first. */
function check(runs: Readonly<Record<string, string | null>>, expected: readonly string[]): void {
  const made = Object.entries(runs).map(
    ([id, previousId], createdAt): ChainRun => ({
      id,
      previousId,
      status: "completed",
      createdAt,
      inputTokens: null,
      outputTokens: null,
      text: "",
    }),
  );
  expect(asTree(made.toReversed()).map(({ run, depth }) => `${"-".repeat(depth)}${run.id}`)).toEqual(expected);
}

test("a chain stays at one depth", () => check({ a: null, b: "a", c: "b" }, ["a", "b", "c"]));

test("each branch but the newest stands one step deeper, with all that continues it", () => {
  check({ a: null, b: "a", c: "b", d: "a", e: "a", f: "e" }, ["a", "-b", "-c", "-d", "e", "f"]);
});

test("a run whose previous one is unknown begins a tree", () => check({ b: "a", c: "b", d: "x" }, ["b", "c", "d"]));
