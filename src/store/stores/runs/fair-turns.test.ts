import { expect, test } from "vitest";
import { nameOfOwner, takeTurns } from "./fair-turns.ts";

const runOf = (organization: string, id: number) => ({ organization, project: "p", id });
const namesOf = (runs: readonly ReturnType<typeof runOf>[]): readonly string[] =>
  runs.map(({ organization, id }) => `${organization}${id}`);

test("each owner gets a place in turn, its oldest run first", () => {
  const waiting = [runOf("a", 1), runOf("a", 2), runOf("a", 3), runOf("b", 1), runOf("c", 1), runOf("b", 2)];
  expect(namesOf(takeTurns(waiting, new Map()))).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("an owner whose runs are being made waits until the others have as many", () => {
  const running = new Map([[nameOfOwner({ organization: "a", project: "p" }), 2]]);
  const waiting = [runOf("a", 1), runOf("b", 1), runOf("b", 2), runOf("b", 3)];
  expect(namesOf(takeTurns(waiting, running))).toEqual(["b1", "b2", "a1", "b3"]);
});

test("without others the oldest come first", () => {
  expect(namesOf(takeTurns([runOf("a", 1), runOf("a", 2)], new Map()))).toEqual(["a1", "a2"]);
});
