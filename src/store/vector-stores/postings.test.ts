import fc from "fast-check";
import { expect, test } from "vitest";
import { type Posting, packPostings, readPostings } from "./postings.ts";

const LISTS = fc
  .uniqueArray(fc.nat(1_000_000), { maxLength: 50 })
  .map((ordinals) => ordinals.toSorted((one, other) => one - other))
  .chain((ordinals) =>
    fc.tuple(
      ...ordinals.map((ordinal) =>
        fc.record({ ordinal: fc.constant(ordinal), count: fc.integer({ min: 1, max: 5_000 }), length: fc.nat(70_000) }),
      ),
    ),
  );

test("postings come back as they were packed", () => {
  fc.assert(
    fc.property(LISTS, fc.nat(1_000), (postings: readonly Posting[], back) => {
      const first = Math.max(0, (postings[0]?.ordinal ?? 0) - back);
      const read: Posting[] = [];
      readPostings(first, packPostings(first, postings), (ordinal, count, length) => {
        read.push({ ordinal, count, length });
      });
      expect(read).toEqual(postings);
    }),
  );
});
