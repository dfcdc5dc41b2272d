import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { misjudgedMutations } from "@antiphon/stream-grammar/check-mutations.fixture.ts";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import type { SampleEvent } from "@antiphon/stream-grammar/sample-streams.fixture.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";

const folder = process.env["REFERENCE_RECORDINGS"];
const files = folder === undefined ? [] : readdirSync(folder).filter((file) => file.endsWith(".chunks.txt"));

/** The publisher of this recording left out most deltas, an item, and some members. The linter has to notice. */
const ABRIDGED = "openai-phase.1.chunks.txt";

describe.skipIf(folder === undefined)("streams recorded from the reference (REFERENCE_RECORDINGS)", () => {
  const whole = files.filter((file) => file !== ABRIDGED);

  test("there are recordings", () => expect(whole.length).toBeGreaterThan(5));

  test.each(whole)("%s follows the grammar", (file) => {
    verifies("contract.parity.stream-grammar");
    const reports = lintText(textOf(file));
    expect(reports.map(({ faults }) => faults)).toEqual(reports.map(() => []));
    expect(reports.length).toBe(streamsOf(file).length);
  });

  test.each(whole)("each mutation of %s breaks the named rule", (file) => {
    verifies("contract.parity.stream-grammar");
    for (const events of streamsOf(file)) {
      const { tried, misjudged } = misjudgedMutations(events);
      expect(misjudged).toEqual([]);
      expect(tried).toBeGreaterThan(25);
    }
  });

  test.skipIf(!files.includes(ABRIDGED))("the omissions of an abridged recording are named", () => {
    const [report, ...others] = lintText(textOf(ABRIDGED));
    expect(others).toEqual([]);
    expect(report?.faults.map(({ event, rule }) => `${event} ${rule}`)).toEqual([
      "4 event-members",
      "5 event-members",
      "6 sequence-number",
      "6 deltas-add-up",
      "9 sequence-number",
      "9 output-index",
      "11 event-members",
      "12 event-members",
      "13 sequence-number",
      "13 deltas-add-up",
    ]);
  });
});

function textOf(file: string): string {
  return readFileSync(join(folder ?? "", file), "utf8");
}

/** A file may hold several streams one after the other. */
function streamsOf(file: string): SampleEvent[][] {
  const lines = textOf(file)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const streams: SampleEvent[][] = [];
  for (const line of lines) {
    const event: SampleEvent = JSON.parse(line);
    if (event.type === "response.created") streams.push([]);
    streams.at(-1)?.push(event);
  }
  return streams;
}
