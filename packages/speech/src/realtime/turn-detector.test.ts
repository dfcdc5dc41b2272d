import { expect, test } from "vitest";
import { TURN_MS_MAX, type TurnChange, TurnDetector, type TurnRules } from "./turn-detector.ts";

const RULES: TurnRules = { prefixMs: 300, silenceMs: 500, idleMs: null };

/** The changes of a sound: milliseconds of voice and of silence in turn, a voice first. */
function changesOf(rules: TurnRules, ...stretches: readonly number[]): TurnChange[] {
  const detector = new TurnDetector(rules, 0, false);
  return stretches.flatMap((ms, index) =>
    Array.from({ length: ms / 20 }, () => detector.push(index % 2 === 0)).flatMap((change) => change ?? []),
  );
}

test("a turn begins before its first voice and ends after its pause", () => {
  expect(changesOf(RULES, 0, 1000, 1000, 600)).toEqual([
    { type: "started", startMs: 700 },
    { type: "stopped", endMs: 2500 },
  ]);
});

test("a click begins no turn, and a short pause ends none", () => {
  expect(changesOf(RULES, 0, 1000, 40, 1000)).toEqual([]);
  expect(changesOf(RULES, 1000, 400, 1000)).toEqual([{ type: "started", startMs: 0 }]);
});

test("no sound belongs to two turns", () => {
  expect(changesOf(RULES, 1000, 520, 1000, 500)).toEqual([
    { type: "started", startMs: 0 },
    { type: "stopped", endMs: 1500 },
    { type: "started", startMs: 1500 },
    { type: "stopped", endMs: 3020 },
  ]);
});

test("silence is told again each time that it lasts long enough", () => {
  expect(changesOf({ ...RULES, idleMs: 5000 }, 0, 10_000)).toEqual([
    { type: "idle", startMs: 0, endMs: 5000 },
    { type: "idle", startMs: 5000, endMs: 10_000 },
  ]);
});

test("a turn without a pause ends at its greatest length", () => {
  expect(changesOf(RULES, TURN_MS_MAX + 1000)).toEqual([
    { type: "started", startMs: 0 },
    { type: "stopped", endMs: TURN_MS_MAX },
    { type: "started", startMs: TURN_MS_MAX },
  ]);
});
