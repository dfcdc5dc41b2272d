import fc from "fast-check";
import { expect, test } from "vitest";
import { EVENT_TYPES } from "./event-members.ts";
import { lintText } from "./framing/lint-text.ts";
import { ITEM_GRAMMAR } from "./grammar.ts";
import { SAMPLE_STREAMS } from "./sample-streams.fixture.ts";
import { lintEvents } from "./stream-linter.ts";

const MEMBERS = [
  "sequence_number",
  "output_index",
  "content_index",
  "summary_index",
  "item_id",
  "item",
  "part",
  "response",
  "delta",
  "text",
  "error",
];
const TYPES = [...EVENT_TYPES, ...ITEM_GRAMMAR.keys(), "output_text", "resp_1", "constructor", "__proto__"];

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.nat(3),
  fc.constantFrom(...TYPES),
  fc.dictionary(
    fc.constantFrom("id", "type", "status", "content", "output", "call_id", "text", "action"),
    fc.oneof(fc.constantFrom(...TYPES), fc.jsonValue({ maxDepth: 1 })),
  ),
);
const event = fc
  .tuple(fc.constantFrom(...EVENT_TYPES), fc.dictionary(fc.constantFrom(...MEMBERS), value))
  .map(([type, members]) => ({ type, ...members }));

test("any events in any order get a report without an exception", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(event, fc.jsonValue()), { maxLength: 12 }), (events) => {
      const report = lintEvents(events);
      expect(report.events).toBe(events.length);
      expect(report.faults.length).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});

/** A keep-alive may stand anywhere, so it is legal if its number happens to be right. */
const foreignEvent = event.filter(({ type }) => type !== "keepalive");

test("an event inserted into a legal stream is reported, and text between frames causes no exception", () => {
  const legal = Object.values(SAMPLE_STREAMS);
  fc.assert(
    fc.property(fc.constantFrom(...legal), fc.nat(30), foreignEvent, fc.string(), (events, at, foreign, noise) => {
      expect(lintEvents(events.toSpliced(at, 0, foreign)).faults.length).toBeGreaterThan(0);
      const text = events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`);
      expect(lintText(text.toSpliced(at, 0, noise).join("")).length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
