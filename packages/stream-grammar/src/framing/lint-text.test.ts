import { describe, expect, test } from "vitest";
import type { RuleName } from "../rules.ts";
import { SAMPLE_STREAMS, type SampleEvent } from "../sample-streams.fixture.ts";
import { lintText, TextLinter } from "./lint-text.ts";

const EVENTS = SAMPLE_STREAMS["a text"] ?? [];
const frame = (event: SampleEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const FRAMES = EVENTS.map(frame);
const WHOLE = FRAMES.join("");

function check(text: string, ...faults: readonly (readonly [event: number, rule: RuleName])[]): void {
  const found = lintText(text).map((report) => report.faults.map(({ event, rule }) => [event, rule]));
  expect(found).toEqual([faults]);
}

describe("frames", () => {
  test("may have comments between them", () => check(WHOLE.replace("\n\n", "\n\n: keepalive\n\n")));

  test("may arrive in pieces of any size", () => {
    const linter = new TextLinter();
    for (const character of WHOLE) linter.take(character);
    expect(linter.end()).toEqual(lintText(WHOLE));
  });

  test("must have the type of their event as their name", () => {
    check(WHOLE.replace("event: response.in_progress", "event: response.queued"), [1, "frame-name"]);
    check(WHOLE.replace("event: response.in_progress\n", ""), [1, "frame-name"]);
  });

  test("may have an id line with the number of their event", () => {
    check(WHOLE.replace("event: response.in_progress\n", "id: 1\nevent: response.in_progress\n"));
    check(WHOLE.replace("event: response.in_progress\n", "id: 2\nevent: response.in_progress\n"), [1, "frame-lines"]);
    check(WHOLE.replace("event: response.in_progress\n", "id: 1\nid: 1\n$&"), [1, "frame-lines"]);
  });

  test("must have no retry line and a single data line", () => {
    check(WHOLE.replace("event: response.in_progress\n", "retry: 1\nevent: response.in_progress\n"), [
      1,
      "frame-lines",
    ]);
    check(WHOLE.replace('"sequence_number":1,', '"sequence_number":1,\ndata: '), [1, "frame-lines"]);
    check(WHOLE.replace("event: response.in_progress\n", "$&$&"), [1, "frame-lines"]);
  });

  test("must end with line feeds and not begin with a byte order mark", () => {
    check(`\uFEFF${WHOLE}`, [0, "frame-lines"]);
    const faults = lintText(WHOLE.replaceAll("\n", "\r\n"))[0]?.faults ?? [];
    expect(faults.map(({ event, rule }) => [event, rule])).toEqual(EVENTS.map((_, index) => [index, "frame-lines"]));
  });

  test("must be complete at the end", () => {
    check(WHOLE.slice(0, -1), [9, "frame-whole"], [9, "one-ending"]);
    check(`${WHOLE}event: response.`, [10, "frame-whole"]);
  });

  test("must hold JSON", () => {
    check(WHOLE.replace('data: {"type":"response.in_progress"', "data: {"), [1, "event-json"], [2, "stream-order"]);
  });

  test("must not be followed by [DONE]", () => check(`${WHOLE}data: [DONE]\n\n`, [10, "no-done-mark"]));
});

describe("lines", () => {
  const lines = EVENTS.map((event) => `${JSON.stringify(event)}\n`).join("");
  const other = lines.replaceAll("resp_1", "resp_2");

  test("hold one event each", () => {
    check(lines);
    check(lines.trimEnd());
    check(lines.replace("\n", "\n\n"));
  });

  test("may hold several streams, which get a report each", () => {
    const reports = lintText(lines + other.replace('"delta":"lo"', '"delta":"la"'));
    expect(
      reports.map(({ responseId, events, faults }) => [
        responseId,
        events,
        faults.map(({ event, rule }) => [event, rule]),
      ]),
    ).toEqual([
      ["resp_1", EVENTS.length, []],
      ["resp_2", EVENTS.length, [[6, "deltas-add-up"]]],
    ]);
  });

  test("that repeat a stream of the same response count as one stream", () => {
    expect(lintText(lines + lines)).toHaveLength(1);
    expect(lintText(lines + lines)[0]?.faults[0]).toMatchObject({ event: EVENTS.length, rule: "sequence-number" });
  });

  test("have a maximum length, which is reached quickly even in small pieces", () => {
    const linter = new TextLinter();
    linter.take("{");
    const piece = "a".repeat(16 * 1024);
    expect(() => {
      for (let count = 0; count <= 4096; count++) linter.take(piece);
    }).toThrow(RangeError);
  });

  test("that are not JSON are reported", () => check(`${lines}oops`, [10, "event-json"]));
});
