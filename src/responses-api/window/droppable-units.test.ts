import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { droppableUnits } from "./droppable-units.ts";

type Item = ModelRequest["items"][number];

const user = (text: string): Item => ({ type: "message", role: "user", content: text });
const assistant = (text: string): Item => ({ type: "message", role: "assistant", content: text });
const call = (id: string): Item => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
const output = (id: string): Item => ({ type: "function_call_output", call_id: id, output: "" });
const reasoning: Item = { type: "reasoning", summary: [] };
const summary: Item = { id: "summary:cmp_1", type: "message", role: "user", content: "So far." };

function placesOf(items: readonly Item[]): readonly (readonly number[])[] {
  return droppableUnits(items).map(({ places }) => places);
}

test("calls are grouped with their outputs, and reasoning with the item it led to", () => {
  const items = [
    user("a"),
    reasoning,
    call("1"),
    call("2"),
    output("2"),
    output("1"),
    reasoning,
    assistant("b"),
    user("c"),
  ];
  expect(placesOf(items)).toEqual([[0], [1, 2, 5], [3, 4], [6, 7]]);
});

test("instructions, summaries and the last user message cannot be left out", () => {
  const items: Item[] = [
    { type: "message", role: "system", content: "s" },
    summary,
    user("a"),
    { role: "developer", content: "d" },
    user("b"),
  ];
  expect(placesOf(items)).toEqual([[2]]);
  expect(placesOf([summary])).toEqual([]);
});

test("a call of a hosted function is grouped with its output", () => {
  const calls = (callId: string): Item => ({ type: "hosted_call", callId, name: "f", server: null, arguments: "{}" });
  const returns = (callId: string): Item => ({ type: "hosted_output", callId, output: "", parts: [] });
  const items = [user("a"), calls("1"), calls("2"), returns("1"), returns("2"), assistant("b"), user("c")];
  expect(placesOf(items)).toEqual([[0], [1, 3], [2, 4], [5]]);
});

test("a context may begin with a user message or with a unit of the last turn", () => {
  const items = [user("a"), assistant("b"), user("c"), call("1"), output("1"), call("2"), output("2")];
  expect(droppableUnits(items).map(({ mayLead }) => mayLead)).toEqual([true, false, true]);
});

test("the results of the latest turn cannot be left out, and neither can their calls", () => {
  const items = [user("a"), call("1"), output("1"), reasoning, call("2"), call("3"), output("2"), output("3")];
  expect(placesOf(items)).toEqual([[1, 2]]);
  expect(placesOf([...items, assistant("b")])).toEqual([[1, 2], [3, 4, 6], [5, 7], [8]]);
});

const item = fc.oneof(
  fc.constantFrom(user("a"), assistant("b"), reasoning, summary),
  fc.constantFrom("1", "2", "3").map(call),
  fc.constantFrom("1", "2", "3").map(output),
);

test("leaving out any number of the oldest units never separates a call from its output", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 20 }), fc.nat(20), (items, count) => {
      const units = droppableUnits(items);
      const gone = new Set(units.slice(0, count).flatMap(({ places }) => places));
      const left = items.filter((_, place) => !gone.has(place));
      const ids = (type: string): Set<unknown> =>
        new Set(items.filter((each) => each.type === type).map((each) => ("call_id" in each ? each.call_id : null)));
      const leftIds = (type: string): Set<unknown> =>
        new Set(left.filter((each) => each.type === type).map((each) => ("call_id" in each ? each.call_id : null)));
      for (const id of ids("function_call"))
        if (ids("function_call_output").has(id))
          expect(leftIds("function_call").has(id)).toBe(leftIds("function_call_output").has(id));
      const all = units.flatMap(({ places }) => places);
      expect(new Set(all).size).toBe(all.length);
    }),
  );
});
