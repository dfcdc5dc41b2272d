import fc from "fast-check";
import { expect, test } from "vitest";
import {
  elementsOf,
  LONG_CHARACTERS,
  LONG_ELEMENTS,
  PIECE_CHARACTERS,
  piecesOf,
  restoreLong,
  type SentAhead,
  withoutLong,
} from "./long-texts.ts";

const text = fc.oneof(
  fc.string(),
  fc.nat(3).map((extra) => "🙂".repeat(LONG_CHARACTERS / 2 + extra)),
  fc.nat(3).map((extra) => "x".repeat(PIECE_CHARACTERS + extra)),
);
const short = fc.oneof(fc.string(), fc.integer(), fc.record({ id: fc.string() }));
const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie("data"), { maxLength: 4 }),
    // One of their elements may be long; if all could be, a list would fill the heap.
    fc
      .tuple(short, fc.nat(2 * LONG_ELEMENTS), tie("data"))
      .map(([element, count, last]) => [...Array(count).fill(element), last]),
    fc.dictionary(fc.string(), tie("data"), { maxKeys: 4 }),
  ),
}));

test("long texts and lists are taken out of plain data, travel in pieces, and are put back where they were", () => {
  fc.assert(
    fc.property(fc.array(data, { maxLength: 4 }), (values) => {
      const ahead: SentAhead = { texts: [], lists: [] };
      const sent: unknown[] = structuredClone([withoutLong(values, ahead)]);
      const arrived: SentAhead = { texts: [], lists: [] };
      for (const list of ahead.lists) arrived.lists.push(send([...elementsOf(list, ahead)]).flat());
      for (const long of ahead.texts) {
        const pieces = [...piecesOf(long)];
        expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(PIECE_CHARACTERS);
        arrived.texts.push(pieces.join(""));
      }
      expect(longestTextOf(sent)).toBeLessThanOrEqual(LONG_CHARACTERS);
      restoreLong(sent, arrived);
      expect(sent).toEqual([values]);
    }),
    { numRuns: 50 },
  );
});

test("a piece of a list has neither too many elements nor too many characters", () => {
  const ahead: SentAhead = { texts: [], lists: [] };
  const pieces = send([...elementsOf(Array(3 * LONG_ELEMENTS).fill("x"), ahead)]);
  expect(pieces.map(({ length }) => length)).toEqual([LONG_ELEMENTS, LONG_ELEMENTS, LONG_ELEMENTS]);
  const body = "x".repeat(LONG_CHARACTERS);
  const long = send([
    ...elementsOf(
      Array.from({ length: 64 }, () => ({ id: "1", body })),
      ahead,
    ),
  ]);
  for (const piece of long) expect(piece.length).toBeLessThanOrEqual(PIECE_CHARACTERS / LONG_CHARACTERS);
  expect(ahead).toEqual({ texts: [], lists: [] });
});

/** Pieces as they arrive. */
function send(pieces: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  for (const piece of pieces) expect(longestTextOf(piece)).toBeLessThanOrEqual(LONG_CHARACTERS);
  return structuredClone(pieces);
}

function longestTextOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longestTextOf));
}
