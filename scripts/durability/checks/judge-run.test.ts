import { SAMPLE_STREAMS } from "@antiphon/stream-grammar/sample-streams.fixture.ts";
import { expect, test } from "vitest";
import { Run } from "../runs/run.ts";
import { judgeRun } from "./judge-run.ts";

const EVENTS = (SAMPLE_STREAMS["a response of the background"] ?? []).map((event) => JSON.stringify(event));
const END = EVENTS.length - 1;
const FINAL = JSON.parse(EVENTS[END] ?? "{}").response;
const JUDGING = { isExact: true, reportsUnknownEffects: true, brokenRules: new Set<string>() };

interface Case {
  readonly shown?: readonly string[];
  readonly replay?: readonly string[];
  readonly snapshot?: object;
}

/** Shows these events to a reader, and compares what is found about the run. */
function check({ shown = EVENTS, replay = EVENTS, snapshot = FINAL }: Case, status: string, ...found: string[]): void {
  const run = new Run("run-1");
  for (const json of shown) run.shown.take(json, { at: 0, connectedAt: 0 });
  const stored = { replay: { type: "read", value: replay }, snapshot: { type: "read", value: snapshot } } as const;
  const verdict = judgeRun(run, stored, JUDGING);
  expect(verdict.status).toBe(status);
  expect([...new Set(verdict.findings.map((finding) => finding.check))]).toEqual(found);
}

test("nothing is found about a run that was shown whole", () => {
  expect(EVENTS.length).toBeGreaterThan(5);
  check({}, "completed");
});

test("an event that was shown twice is found, and so is one that is missing", () => {
  check({ shown: EVENTS.toSpliced(4, 0, EVENTS[3] ?? "") }, "completed", "each event once");
  check({ shown: EVENTS.toSpliced(3, 1) }, "completed", "each event once", "replay", "grammar");
});

test("an event after the end is found", () => {
  const late = JSON.stringify({ type: "response.in_progress", sequence_number: END + 1, response: FINAL });
  check({ shown: [...EVENTS, late] }, "completed", "one end");
});

test("a run whose reader was shown no end has not completed, whatever the server says", () => {
  check({ shown: EVENTS.slice(0, END) }, "completed, no end shown", "one end");
  check({ shown: EVENTS.slice(0, END), snapshot: { status: "in_progress" } }, "in_progress, no end shown", "one end");
});

test("a replay that differs in a byte or in its length is found", () => {
  check({ replay: EVENTS.with(3, `${EVENTS[3]} `) }, "completed", "replay");
  check({ replay: EVENTS.toSpliced(2, 2) }, "completed", "replay");
});

test("a snapshot that the events do not give is found", () => {
  check({ snapshot: { ...FINAL, output: [] } }, "completed", "snapshot");
  check({ snapshot: { ...FINAL, error: null } }, "completed", "snapshot");
  check({ snapshot: { ...FINAL, status: "failed" } }, "completed, later failed", "snapshot");
  check({ snapshot: { ...FINAL, billing: { payer: "developer" } } }, "completed");
});

test("a replay and a snapshot that cannot be read are found", () => {
  const run = new Run("run-1");
  for (const json of EVENTS) run.shown.take(json, { at: 0, connectedAt: 0 });
  const unreadable = { type: "unreadable", why: "404" } as const;
  const { status, findings } = judgeRun(run, { replay: unreadable, snapshot: unreadable }, JUDGING);
  expect([status, ...findings.map(({ check: name }) => name)]).toEqual([
    "completed, later unreadable",
    "replay",
    "snapshot",
  ]);
});

test("a stream against the grammar is found", () => {
  const broken = EVENTS.map((json) => json.replaceAll('"content_index":0', '"content_index":1'));
  check({ shown: broken, replay: broken }, "completed", "grammar");
});
