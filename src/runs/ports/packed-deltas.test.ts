import { expect, test } from "vitest";
import { DeltaTemplate, RecordedDelta, type RecordedEvent, RecordedWhole } from "../recorded-event.ts";
import { PackedDeltas, packDeltas, unpackDeltas } from "./packed-deltas.ts";

const ONE = new DeltaTemplate('{"type":"one","delta":', ',"sequence_number":');
const OTHER = new DeltaTemplate('{"type":"other","delta":', ',"sequence_number":');

test("packed deltas are the same events again, whatever their texts", () => {
  const texts = [
    "plain",
    "",
    '"',
    "\\",
    '","',
    "\n\u2028",
    "é😀",
    "\ud800",
    ...Array.from({ length: 300 }, () => " word"),
  ];
  const events: RecordedEvent[] = [RecordedWhole.fromJson(7, '{"type":"first"}')];
  for (const text of texts) events.push(new RecordedDelta(7 + events.length, ONE, text));
  for (const text of texts) events.push(new RecordedDelta(7 + events.length, OTHER, text));
  const packed = packDeltas(events);
  expect(packed.map(({ number, count }) => [number, count])).toEqual([
    [7, 1],
    [8, 256],
    [264, 52],
    [316, 256],
    [572, 52],
  ]);
  expect(jsonOf(unpackDeltas(packed))).toEqual(jsonOf(events));
  expect(packDeltas(packed)).toEqual(packed);
});

test("a few deltas stay objects", () => {
  const events = ["a", "b", "c"].map((text, index) => new RecordedDelta(index, ONE, text));
  const others = ["d", "e", "f"].map((text, index) => new RecordedDelta(3 + index, OTHER, text));
  expect(packDeltas([...events, ...others]).some((event) => event instanceof PackedDeltas)).toBe(false);
});

test("long deltas are packed as several lots", () => {
  const events = Array.from({ length: 12 }, (_, number) => new RecordedDelta(number, ONE, "x".repeat(4096)));
  expect(packDeltas(events).map(({ count }) => count)).toEqual([4, 4, 4]);
});

test("packed deltas count as much as their objects", () => {
  const events = Array.from({ length: 20 }, (_, number) => new RecordedDelta(number, ONE, " word"));
  const sizeOf = (list: readonly { readonly size: number }[]) => list.reduce((sum, { size }) => sum + size, 0);
  expect(sizeOf(packDeltas(events))).toBe(sizeOf(events));
});

function jsonOf(events: readonly RecordedEvent[]): readonly string[] {
  return events.map(({ json }) => json);
}
