import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { type OtherPrimary, Succession, type SuccessionWord } from "./succession.ts";

/** The end of a channel to a primary that is not there. */
function stageOther() {
  const ended = Promise.withResolvers<void>();
  const heard: SuccessionWord[] = [];
  let listener: (word: SuccessionWord) => void = () => {};
  const other: OtherPrimary = {
    send: (word) => void heard.push(word),
    onWord: (added) => (listener = added),
    exit: ended.promise,
  };
  return { other, heard, say: (word: SuccessionWord) => listener(word), end: () => ended.resolve() };
}

function stageSuccession() {
  const predecessor = stageOther();
  const started = [stageOther(), stageOther()];
  const done: string[] = [];
  let starts = 0;
  const succession = new Succession({
    primary: {
      retire: async () => void done.push("retire"),
      restart: () => void done.push("restart"),
      stop: () => void done.push("stop"),
    },
    predecessor: predecessor.other,
    startSuccessor: () => {
      starts += 1;
      return started[starts - 1]?.other ?? stageOther().other;
    },
    onSucceeded: () => void done.push("succeeded"),
    onRetired: () => void done.push("retired"),
    onFailed: () => void done.push("failed"),
    log: silentLogger,
  });
  const [successor = stageOther(), second = stageOther()] = started;
  return { succession, predecessor, successor, second, done, starts: () => starts };
}

test("a primary retires once its successor serves, and not before", async () => {
  const { succession, successor, predecessor, done } = stageSuccession();
  succession.handOver();
  expect(done).toEqual([]);
  successor.say("serving");
  expect(done).toEqual(["succeeded", "retire"]);
  expect(predecessor.heard).toEqual(["succeeded"]);
  await Promise.resolve();
  expect(done.at(-1)).toBe("retired");
});

test("a primary whose successor ends before it served goes on, and can start another", async () => {
  const { succession, successor, second, done, starts } = stageSuccession();
  succession.handOver();
  successor.end();
  await successor.other.exit;
  expect(done).toEqual(["failed"]);
  succession.handOver();
  expect(starts()).toBe(2);
  second.say("serving");
  expect(done).toEqual(["failed", "succeeded", "retire"]);
});

test("a hand-over that is asked for while one goes on becomes a restart of the successor", () => {
  const { succession, successor, starts } = stageSuccession();
  succession.handOver();
  succession.handOver();
  expect([starts(), successor.heard]).toEqual([1, ["restart"]]);
});

test("the successor tells its predecessor when it serves, and restarts when that says so", () => {
  const { succession, predecessor, done } = stageSuccession();
  succession.serving();
  predecessor.say("restart");
  expect([predecessor.heard, done]).toEqual([["serving"], ["restart"]]);
});

test("a primary that is stopped stops those before it, waits for them, and stops a successor that does not serve", async () => {
  const { succession, predecessor, successor, done } = stageSuccession();
  succession.handOver();
  succession.stop();
  expect([predecessor.heard, successor.heard, done]).toEqual([["stop"], ["stop"], ["stop"]]);
  let hasWaited = false;
  const waiting = succession.waitForOthers().then(() => (hasWaited = true));
  predecessor.end();
  await predecessor.other.exit;
  expect(hasWaited).toBe(false);
  successor.end();
  await waiting;
});

test("a primary that was not stopped waits for nobody", async () => {
  const { succession, successor } = stageSuccession();
  succession.handOver();
  successor.say("serving");
  await succession.waitForOthers();
});

test("the oldest primary is stopped when a fourth takes over", () => {
  const { succession, successor, predecessor, done } = stageSuccession();
  succession.handOver();
  for (const word of ["serving", "succeeded", "succeeded"] as const) successor.say(word);
  expect(done).toEqual(["succeeded", "retire"]);
  successor.say("succeeded");
  expect(done.at(-1)).toBe("stop");
  expect(predecessor.heard).toEqual(["succeeded", "succeeded", "succeeded", "stop"]);
});
