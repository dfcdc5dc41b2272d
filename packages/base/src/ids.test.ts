import { expect, test } from "vitest";
import { randomHex } from "./ids.ts";

test("random digits have the asked length and never repeat, however many are taken", () => {
  const taken = Array.from({ length: 2_000 }, (_, index) => randomHex(16 + 2 * (index % 9)));
  expect(new Set(taken).size).toBe(taken.length);
  for (const [index, digits] of taken.entries())
    expect(digits).toMatch(new RegExp(`^[0-9a-f]{${16 + 2 * (index % 9)}}$`));
});
