import { expect, test } from "vitest";
import { EventTimes, readEventTimes } from "./event-times.ts";

const TEXT = [{ delta: "a" }];

/** Times whose clock stands at what `at` was called with last. */
function started() {
  const clock = { ms: 1_000 };
  const times = new EventTimes(1_000, () => clock.ms);
  return { times, at: (ms: number) => void (clock.ms = 1_000 + ms) };
}

test("each event has the time at which it was made, and those of one moment share it", () => {
  const { times, at } = started();
  times.note(0, [{}, {}]);
  at(7);
  times.noteBegin();
  at(12);
  times.note(2, TEXT);
  times.note(3, TEXT);
  at(40);
  times.note(4, [{}]);
  expect(times.soFar()).toEqual({ events: "0:0 2:12 2:28", queuedMs: 7, firstTextMs: 12, durationMs: 40 });
  const atOf = readEventTimes(times.soFar().events);
  expect([0, 1, 2, 3, 4, 5].map(atOf)).toEqual([0, 0, 12, 12, 40, 40]);
});

test("events before the first mark have no time", () => {
  const { times, at } = started();
  at(5);
  times.note(3, [{}]);
  expect([0, 2, 3].map(readEventTimes(times.soFar().events))).toEqual([null, null, 5]);
  expect(readEventTimes("")(0)).toBeNull();
});

test("numbers that are given again have the later time", () => {
  const { times, at } = started();
  times.note(0, [{}]);
  at(3);
  times.note(1, TEXT);
  at(9);
  times.note(1, TEXT);
  expect([0, 1].map(readEventTimes(times.soFar().events))).toEqual([0, 9]);
});

test("a clock that is set back does not turn time back", () => {
  const { times, at } = started();
  at(20);
  times.note(0, [{}]);
  at(-500);
  times.note(1, [{}]);
  expect(times.soFar()).toMatchObject({ events: "0:20", durationMs: 20 });
});

test("a run of many moments keeps a bounded list, and its times stay about right", () => {
  const { times, at } = started();
  for (let number = 0; number < 100_000; number++) {
    at(number * 3);
    times.note(number, TEXT);
  }
  const { events } = times.soFar();
  expect(events.length).toBeLessThan(100_000);
  const atOf = readEventTimes(events);
  for (const number of [0, 10, 50_000, 99_999])
    expect(Math.abs((atOf(number) ?? -1_000) - number * 3)).toBeLessThan(100);
});
