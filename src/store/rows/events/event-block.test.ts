import { sendResponseEventsTypes } from "@antiphon/contracts/responses-api/events.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Numbering } from "../../../runs/numbering.ts";
import { packDeltas } from "../../../runs/ports/packed-deltas.ts";
import type { UnnumberedEvent } from "../../../runs/wire-event.ts";
import { deltaEvents, textEvents } from "../../stores/runs/text-events.fixture.ts";
import { countOf, linesOf, packEvents, readEventLines } from "./event-block.ts";
import { emptyTail, extendTail } from "./run-tail.ts";

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(" word", "", '"\\\n', "\u2028", "\ud83d", '","delta":"', '["~",', "x".repeat(9_000)),
);

/** The place of a delta in its item. Types that are not listed get any members. */
const PLACES: Readonly<Record<string, readonly ("content_index" | "summary_index" | "logprobs")[]>> = {
  "response.output_text.delta": ["content_index", "logprobs"],
  "response.refusal.delta": ["content_index"],
  "response.reasoning_text.delta": ["content_index"],
  "response.reasoning_summary_text.delta": ["summary_index"],
  "response.function_call_arguments.delta": [],
  "response.custom_tool_call_input.delta": [],
  "response.mcp_call_arguments.delta": [],
  "response.code_interpreter_call_code.delta": [],
  "response.apply_patch_call_operation_diff.delta": [],
};

/** Events of every type of the contract; those with a place more often. */
const anyEvent: fc.Arbitrary<UnnumberedEvent> = fc
  .record({
    type: fc.constantFrom(...sendResponseEventsTypes, ...Object.keys(PLACES), ...Object.keys(PLACES)),
    item: fc.constantFrom({ item_id: "msg_1", output_index: 0 }, { output_index: 1, item_id: 'msg_"delta":""' }),
    place: fc.record({
      content_index: fc.nat(1),
      summary_index: fc.nat(1),
      logprobs: fc.constantFrom([], [], [{ token: "a", logprob: -0.5, bytes: [97], top_logprobs: [] }]),
    }),
    delta: texts,
    others: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  .map(({ type, item, place, delta, others }) => {
    const members = PLACES[type];
    const inPlace = Object.fromEntries((members ?? []).map((member) => [member, place[member]]));
    const event: UnnumberedEvent = JSON.parse(
      JSON.stringify(members === undefined ? { type, ...others } : { type, delta, ...inPlace, ...item }),
    );
    return event;
  });

test("what was packed reads back byte for byte, whatever the events and however they were appended", () => {
  const appends = fc.array(fc.array(anyEvent, { maxLength: 12 }), { maxLength: 12 });
  fc.assert(
    fc.property(appends, fc.nat(60), (batches, after) => {
      const expected = batches.flat().map((event, number) => JSON.stringify({ ...event, sequence_number: number }));
      const numbering = new Numbering(0);
      const read: string[] = [];
      let tail = emptyTail(0);
      for (const [index, batch] of batches.entries()) {
        const events = numbering.number(structuredClone(batch));
        const blocks = structuredClone(packEvents(index % 2 === 0 ? events : packDeltas(events)));
        const step = extendTail(tail, blocks, index === batches.length - 1);
        tail = step.tail;
        for (const { body, firstNumber } of step.chunks)
          for (const { json, number, event } of readEventLines(body, firstNumber, after, "")) {
            read.push(json);
            expect(number).toBe(after + read.length);
            expect(JSON.stringify(event)).toBe(json);
          }
      }
      expect(read).toEqual(expected.slice(after + 1));
    }),
    { numRuns: 100 },
  );
});

test("deltas of one template take little more room than their texts", () => {
  const [block, ...others] = packEvents(
    deltaEvents(
      5,
      Array.from({ length: 256 }, () => " word"),
    ),
  );
  expect(others).toEqual([]);
  const lines = block === undefined ? "" : linesOf([block]);
  expect(lines.length).toBeLessThan(256 * 9 + 300);
  expect(lines).toContain('["~",5,"{\\"type\\":\\"response.output_text.delta\\"');
});

test("a block ends at 256 events and at 64 K characters", () => {
  const counts = (events: Parameters<typeof packEvents>[0]) => packEvents(events).map(countOf);
  expect(
    counts(
      deltaEvents(
        0,
        Array.from({ length: 600 }, () => "a"),
      ),
    ),
  ).toEqual([256, 256, 88]);
  expect(
    counts(
      deltaEvents(
        0,
        Array.from({ length: 3 }, () => "a".repeat(40_000)),
      ),
    ),
  ).toEqual([2, 1]);
  expect(counts([...textEvents(0, 2), ...deltaEvents(2, ["a"]), ...textEvents(3, 1)])).toEqual([2, 1, 1]);
  expect(counts([...textEvents(0, 1), ...textEvents(7, 1)])).toEqual([1, 1]);
});
