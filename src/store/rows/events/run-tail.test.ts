import fc from "fast-check";
import { expect, test } from "vitest";
import { textEvents } from "../../stores/runs/text-events.fixture.ts";
import { packEvents, readEventLines } from "./event-block.ts";
import {
  BURST_CHARACTERS,
  CHUNK_CHARACTERS,
  CHUNK_EVENTS,
  type Chunk,
  chunkOfTail,
  emptyTail,
  extendTail,
  type TailStep,
} from "./run-tail.ts";

interface Append {
  readonly count: number;
  readonly text: string;
}

const appends = fc.array(
  fc.record({
    count: fc.oneof({ weight: 4, arbitrary: fc.nat(20) }, fc.nat(700)),
    text: fc.constantFrom("a", "two\nlines", "x".repeat(3_000)),
  }),
  { maxLength: 30 },
);

/** The steps of one run. With `finish`, the last one leaves no tail. */
function stepsOf(sizes: readonly Append[], finish: boolean): readonly TailStep[] {
  const steps: TailStep[] = [];
  for (const [index, { count, text }] of sizes.entries()) {
    const tail = steps.at(-1)?.tail ?? emptyTail(0);
    steps.push(
      extendTail(tail, packEvents(textEvents(tail.nextNumber, count, text)), finish && index === sizes.length - 1),
    );
  }
  return steps;
}

function numbersOf(chunk: Chunk | null): readonly number[] {
  if (chunk === null) return [];
  const events = readEventLines(chunk.body, chunk.firstNumber, -1, "");
  expect(events).toHaveLength(chunk.lastNumber - chunk.firstNumber + 1);
  for (const { number, event } of events) expect(event.sequence_number).toBe(number);
  return events.map(({ number }) => number);
}

function upTo(end: number): readonly number[] {
  return Array.from({ length: end }, (_, number) => number);
}

test("after each step the chunks and the tail hold every event once and in order", () => {
  fc.assert(
    fc.property(appends, fc.boolean(), (sizes, finish) => {
      const chunks: Chunk[] = [];
      for (const step of stepsOf(sizes, finish)) {
        chunks.push(...step.chunks);
        expect([...chunks, chunkOfTail(step.tail)].flatMap(numbersOf)).toEqual(upTo(step.tail.nextNumber));
      }
    }),
    { numRuns: 50 },
  );
});

test("what is in no chunk is in the journal", () => {
  fc.assert(
    fc.property(appends, fc.boolean(), (sizes, finish) => {
      const steps = stepsOf(sizes, finish);
      const journaled = steps.flatMap((step) => (step.journalChunk === null ? [] : numbersOf(step.journalChunk)));
      for (const number of numbersOf(chunkOfTail(steps.at(-1)?.tail ?? emptyTail(0))))
        expect(journaled).toContain(number);
      expect(new Set(journaled).size).toBe(journaled.length);
    }),
    { numRuns: 50 },
  );
});

test("a finished run has no tail, and its chunks are full but for bursts and the last", () => {
  fc.assert(
    fc.property(appends, (sizes) => {
      const steps = stepsOf(sizes, true);
      const tail = steps.at(-1)?.tail ?? emptyTail(0);
      expect(tail.blocks).toEqual([]);
      const chunks = steps.flatMap((step) => step.chunks);
      for (const chunk of chunks.slice(0, -1))
        expect(chunk.lastNumber - chunk.firstNumber + 1 >= CHUNK_EVENTS || chunk.body.length >= BURST_CHARACTERS).toBe(
          true,
        );
    }),
    { numRuns: 50 },
  );
});

test.each([
  { title: "small appends make no chunk", appended: [3, 4], text: "a", chunks: [] },
  { title: "a chunk is full at its number of events", appended: [10, 20, CHUNK_EVENTS], text: "a", chunks: [[0, 285]] },
  {
    title: "a chunk is full at its number of characters",
    appended: [1],
    text: "x".repeat(CHUNK_CHARACTERS),
    chunks: [[0, 0]],
  },
  {
    title: "a burst becomes a chunk together with the tail",
    appended: [2, 3],
    text: "x".repeat(BURST_CHARACTERS / 3),
    chunks: [[0, 4]],
  },
])("$title", ({ appended, text, chunks }) => {
  const steps = stepsOf(
    appended.map((count) => ({ count, text })),
    false,
  );
  expect(steps.flatMap((step) => step.chunks.map((chunk) => [chunk.firstNumber, chunk.lastNumber]))).toEqual(chunks);
});
