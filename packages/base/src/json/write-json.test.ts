import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { writeJson, writeJsonBytes } from "./write-json.ts";

const LONG = 150_000;
const text = fc.oneof(
  fc.string(),
  fc.constantFrom("é\\\n".repeat(LONG), "😀".repeat(LONG), `x${"😀".repeat(LONG)}`, "\ud83d".repeat(2 * LONG)),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 1.5, undefined, [], {}),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__", "0", '"'), tie("value"), { maxKeys: 4 }),
  ),
}));

async function check(sample: object): Promise<void> {
  const usual = JSON.stringify(sample);
  // Compared by `===`, because a failing `toBe` takes minutes to print the difference of such long texts.
  expect((await writeJson(sample)) === usual).toBe(true);
  const bytes = Buffer.concat(await writeJsonBytes(sample));
  expect(bytes.equals(Buffer.from(usual))).toBe(true);
  const indented = Buffer.concat(await writeJsonBytes(sample, 2));
  expect(indented.equals(Buffer.from(JSON.stringify(sample, null, 2)))).toBe(true);
}

describe("the JSON of a value that is written in parts", () => {
  test("is the JSON of the whole", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), async (sample) => {
        await check(sample);
        await check({ sample });
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test("is the same where it is many members, and where it is deep", async () => {
    await check(Array.from({ length: 200_000 }, (_, index) => ({ index })));
    await check(Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`p${index}`, [index]])));
    let deep: object = { text: "x".repeat(2 * LONG) };
    for (let depth = 0; depth < 500; depth += 1) deep = depth % 2 === 0 ? [deep] : { deep };
    await check(deep);
  });

  test("is small at once, and leaves others their turns where it is large", async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await writeJson({ small: true });
    expect(turns).toBe(0);
    await writeJson({ large: "x\n".repeat(20_000_000) });
    clearImmediate(next);
    expect(turns).toBeGreaterThan(1);
  });
});
