import { expect, test } from "vitest";
import type { RuleName } from "./rules.ts";
import type { SampleEvent } from "./sample-events.fixture.ts";
import { ofList, streamOfLists, THREE_LISTS } from "./several-lists.fixture.ts";
import { lintEvents } from "./stream-linter.ts";

const { begun, completed, done, message } = THREE_LISTS;
const LISTED = [...begun, ...completed];

function check(
  inner: readonly SampleEvent[],
  items: number,
  ...faults: readonly (readonly [event: number, rule: RuleName])[]
): void {
  const report = lintEvents(streamOfLists(inner, items));
  expect(report.faults.map(({ event, rule }) => [event, rule])).toEqual(faults);
  expect(report.notes).toEqual([]);
}

test("three lists with a done event each are legal", () => {
  check([...LISTED, ...done, ...message], 4);
});

test.each([0, 1, 2])("one done event for three lists, that of the list at %i, gives a note and no fault", (place) => {
  for (const after of [[], message]) {
    const events = streamOfLists([...LISTED, ofList("output_item.done", place), ...after], after.length === 0 ? 3 : 4);
    const { faults, notes } = lintEvents(events);
    expect(faults).toEqual([]);
    const note = { note: "lists-done-once", type: "response.completed", says: "one of 3 lists is done" };
    expect(notes).toEqual([{ ...note, event: events.length - 1 }]);
  }
});

test("three lists without a done event, or with only two, are a fault", () => {
  check(
    [...LISTED, ...message],
    4,
    [11, "one-item-at-a-time"],
    [18, "item-ends"],
    [18, "item-ends"],
    [18, "item-ends"],
  );
  check([...LISTED, ...done.slice(1), ...message], 4, [13, "one-item-at-a-time"], [20, "item-ends"]);
});

test("a list that is done after the next item was added is a fault", () => {
  const late = [...done.slice(0, 1), ...message, ...done.slice(1)];
  check([...LISTED, ...late], 4, [19, "one-item-at-a-time"], [20, "one-item-at-a-time"]);
});

test("the done event of one list does not stand for another that is not completed", () => {
  const two = [...begun, ...completed.slice(0, 2), ...done.slice(0, 1)];
  check([...two, ...message], 4, [11, "one-item-at-a-time"], [18, "item-ends"], [18, "item-ends"]);
});

test("the done event of one list does not stand for another that began later", () => {
  const first = [...begun.slice(0, 2), ...completed.slice(0, 1), ...done.slice(0, 1)];
  check([...first, ...begun.slice(2, 4), ...completed.slice(1, 2)], 2, [9, "item-ends"]);
});
