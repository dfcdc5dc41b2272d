import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { expect, test } from "vitest";
import { IN_FLIGHT_MAX, LANES_MAX, type Lane, Lanes, WAITING_BYTES_MAX, WAITING_FRAMES_MAX } from "./lanes.ts";

interface Sent {
  readonly lane: Lane;
  readonly number: number;
  readonly bytes: number;
}

/**
 * Plays words such as `a b a -a`. `a` is a frame in lane a, `-a` ends the frame that lane a serves, and `.` is the lane
 * without a name. Returns the frames that begin at each word.
 */
function play(words: string): string {
  const lanes = new Lanes<Sent>(new ByteBudget(WAITING_BYTES_MAX * 4).open());
  let number = 0;
  const begun = words.split(" ").map((word) => {
    const lane = laneOf(word.replace("-", ""));
    if (word.startsWith("-")) lanes.release(lane);
    else if (lanes.open(lane)) lanes.add({ lane, number: ++number, bytes: 1 });
    return lanes.takeReady().map((sent) => `${sent.lane ?? "."}${sent.number}`);
  });
  return begun.map((ready) => ready.join("+") || "_").join(" ");
}

function laneOf(word: string): Lane {
  return word === "." ? null : word;
}

test.each([
  ["a a -a -a", "a1 _ a2 _"],
  [". . a -. -a -.", ".1 _ a3 .2 _ _"],
  ["a b a b -b -a", "a1 b2 _ _ b4 a3"],
  ["a a a -a -a", "a1 _ _ a2 a3"],
])("%s begins %s", (words, begun) => {
  expect(play(words)).toBe(begun);
});

test("at most IN_FLIGHT_MAX frames are served at once, in order of arrival", () => {
  const lanes = new Lanes<Sent>(new ByteBudget(WAITING_BYTES_MAX * 4).open());
  for (let number = 0; number < IN_FLIGHT_MAX + 3; number++) {
    lanes.open(`l${number}`);
    lanes.add({ lane: `l${number}`, number, bytes: 1 });
  }
  expect(lanes.takeReady()).toHaveLength(IN_FLIGHT_MAX);
  lanes.release("l5");
  lanes.release("l1");
  expect(lanes.takeReady().map(({ number }) => number)).toEqual([IN_FLIGHT_MAX, IN_FLIGHT_MAX + 1]);
});

test("each name counts once, and the lane without a name does not count", () => {
  const lanes = new Lanes<Sent>(new ByteBudget(WAITING_BYTES_MAX * 4).open());
  for (let number = 0; number < LANES_MAX; number++) expect(lanes.open(`l${number}`)).toBe(true);
  expect([lanes.open("l3"), lanes.open(null), lanes.open("more")]).toEqual([true, true, false]);
  expect([lanes.has("l3"), lanes.has(null), lanes.has("more")]).toEqual([true, true, false]);
});

test("it is full at WAITING_FRAMES_MAX waiting frames", () => {
  const lanes = new Lanes<Sent>(new ByteBudget(WAITING_BYTES_MAX * 4).open());
  lanes.add({ lane: null, number: 0, bytes: 1 });
  lanes.takeReady();
  for (let number = 1; number < WAITING_FRAMES_MAX; number++) lanes.add({ lane: null, number, bytes: 1 });
  expect(lanes.isFull).toBe(false);
  lanes.add({ lane: null, number: WAITING_FRAMES_MAX, bytes: 1 });
  expect(lanes.isFull).toBe(true);
  lanes.clear();
  expect(lanes.isFull).toBe(false);
});

test("it is full while the waiting frames are larger than WAITING_BYTES_MAX", () => {
  const lanes = new Lanes<Sent>(new ByteBudget(WAITING_BYTES_MAX * 4).open());
  lanes.add({ lane: null, number: 0, bytes: WAITING_BYTES_MAX });
  expect(lanes.isFull).toBe(false);
  lanes.add({ lane: null, number: 1, bytes: 1 });
  expect(lanes.isFull).toBe(true);
  lanes.takeReady();
  expect(lanes.isFull).toBe(false);
});
