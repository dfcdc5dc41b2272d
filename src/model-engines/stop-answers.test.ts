import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { expect, test } from "vitest";
import { StopFinder } from "./stop-answers.ts";

interface Case {
  readonly title: string;
  readonly stops: readonly string[];
  readonly deltas: readonly string[];
  /** What is shown after each delta. */
  readonly shown: readonly string[];
}

const CASES: readonly Case[] = [
  { title: "within a delta", stops: ["END"], deltas: ["one END two"], shown: ["one "] },
  { title: "over several deltas", stops: ["END"], deltas: ["one E", "N", "D two"], shown: ["", "", "one "] },
  { title: "at the beginning", stops: ["END"], deltas: ["END"], shown: [""] },
  { title: "the first of two", stops: ["two", "one"], deltas: ["a one two"], shown: ["a "] },
  { title: "after a false beginning", stops: ["aab"], deltas: ["aa", "a", "b!"], shown: ["", "", "a"] },
];

test.each(CASES)("a stop sequence is found $title", ({ stops, deltas, shown }) => {
  const finder = new StopFinder(stops);
  expect(deltas.map((text) => textOf(finder.read({ type: "text_delta", text })))).toEqual(shown);
  expect(finder.sequence).toBe(stops.at(-1));
});

test("what only begins like a stop sequence is shown with the next text, or at the end of the message", () => {
  const finder = new StopFinder(["END"]);
  expect(textOf(finder.read({ type: "text_delta", text: "the E" }))).toBe("");
  expect(textOf(finder.read({ type: "text_delta", text: "arth. EN" }))).toBe("the E");
  expect(finder.read({ type: "finished", reason: "stop" })).toEqual([
    { type: "text_delta", text: "arth. EN" },
    { type: "finished", reason: "stop" },
  ]);
  expect(finder.sequence).toBeNull();
});

test("a delta that is cut loses its log probabilities, others keep theirs", () => {
  const finder = new StopFinder(["END"]);
  const whole = { type: "text_delta", text: "a E", logprobs: [TOKEN] } as const;
  expect(finder.read(whole)).toEqual([]);
  expect(finder.read({ type: "text_delta", text: "ND", logprobs: [TOKEN] })).toEqual([
    { type: "text_delta", text: "a " },
  ]);
});

const TOKEN = { token: "a", bytes: [97], logprob: -1, top_logprobs: [] };

function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => ("text" in event ? event.text : "")).join("");
}
