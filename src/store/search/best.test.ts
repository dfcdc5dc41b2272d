import fc from "fast-check";
import { expect, test } from "vitest";
import { Best } from "./best.ts";

test("the highest values are kept, whatever their order", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.double({ noNaN: true })), fc.integer({ min: 0, max: 20 }), (values, max) => {
      const best = new Best(max);
      for (const [key, value] of values.entries()) best.add(key, value);
      const highest = [...values.entries()].toSorted(([, one], [, other]) => other - one).slice(0, max);
      expect(best.keys.toSorted((one, other) => one - other)).toEqual(
        highest.map(([key]) => key).toSorted((one, other) => one - other),
      );
    }),
  );
});
