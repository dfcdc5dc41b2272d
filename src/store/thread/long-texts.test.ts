import fc from "fast-check";
import { expect, test } from "vitest";
import { LONG_CHARACTERS, PIECE_CHARACTERS, piecesOf, restoreLongTexts, withoutLongTexts } from "./long-texts.ts";

const text = fc.oneof(
  fc.string(),
  fc.nat(3).map((extra) => "🙂".repeat(LONG_CHARACTERS / 2 + extra)),
  fc.nat(3).map((extra) => "x".repeat(PIECE_CHARACTERS + extra)),
);
const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie("data"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("data"), { maxKeys: 4 }),
  ),
}));

test("long texts are taken out of plain data, travel in pieces, and are put back where they were", () => {
  fc.assert(
    fc.property(fc.array(data, { maxLength: 4 }), (values) => {
      const texts: string[] = [];
      const sent: unknown[] = structuredClone([withoutLongTexts(values, texts)]);
      expect(longestTextOf(sent)).toBeLessThanOrEqual(LONG_CHARACTERS);
      const pieces = texts.map((long) => [...piecesOf(long)]);
      expect(Math.max(0, ...pieces.flat().map(({ length }) => length))).toBeLessThanOrEqual(PIECE_CHARACTERS);
      restoreLongTexts(
        sent,
        pieces.map((some) => some.join("")),
      );
      expect(sent).toEqual([values]);
    }),
    { numRuns: 50 },
  );
});

function longestTextOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longestTextOf));
}
